-- One row: which schema the database has, which version of this package made it, and whether it is a sealed copy.
select
    schema_major, schema_minor, created_by, created_at,
    exists (
        select 1 from duckdb_tables() where database_name = current_database() and table_name = 'sealed_copy'
    ) as is_sealed
from meta
limit 1;
