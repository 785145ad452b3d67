-- Who writes here, and what became of what it was given.
create table if not exists writers (
    writer_id     VARCHAR NOT NULL,
    host          VARCHAR,
    pid           INTEGER,
    version       VARCHAR,
    started_at    TIMESTAMPTZ,
    last_write_at TIMESTAMPTZ,
    written       BIGINT,   -- spans
    duplicates    BIGINT,   -- spans delivered again
    cut           BIGINT,   -- values shortened
    spooled       BIGINT,   -- spans that went through the spool
    dropped       BIGINT,   -- spans lost
    lock_waits    BIGINT,   -- times another process held the file
    put_away      BIGINT    -- open runs forgotten to make room for others; they come back from the store
);
