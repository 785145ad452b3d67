-- One row. An unknown major version is refused; a newer minor one only added things.
create table if not exists meta (
    schema_major INTEGER NOT NULL,
    schema_minor INTEGER NOT NULL,
    created_by   VARCHAR NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    last_writer  VARCHAR,          -- writer and number of the last commit: that writer's memory of open runs is still true
    counted_by   VARCHAR           -- the last commit whose runs stand in run_totals: another one was an older version's
);
