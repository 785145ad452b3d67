-- One row: which schema the database has, and which version of this package made it.
select schema_major, schema_minor, created_by, created_at from meta limit 1;
