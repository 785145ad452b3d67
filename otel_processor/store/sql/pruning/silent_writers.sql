-- Writers that last wrote before a moment.
delete from writers
where last_write_at < make_timestamptz($before_us);
