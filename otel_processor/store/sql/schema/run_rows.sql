-- What Python decided about a run. Read it through the view `runs`, which adds what can be counted.
create table if not exists run_rows (
    run_id         VARCHAR NOT NULL,
    task           VARCHAR,
    task_type      VARCHAR,
    agent          VARCHAR,
    service        VARCHAR,
    conversation_id VARCHAR,
    started_at     TIMESTAMPTZ,
    ended_at       TIMESTAMPTZ,           -- NULL while the run is open
    last_seen_at   TIMESTAMPTZ,
    stop_reason    VARCHAR NOT NULL,
    flagged_reason VARCHAR,               -- the first loop verdict on it, however it ended
    policy_hash    VARCHAR NOT NULL,
    status         VARCHAR NOT NULL,      -- running, ok, error, abandoned
    root_input_tokens  BIGINT,            -- what the outermost agents say of the whole; NULL: nothing
    root_output_tokens BIGINT,
    root_cost_usd      DOUBLE,
    idle_reason    VARCHAR,               -- while it is open: why it ended if no more of it comes
    is_guarded     BOOLEAN                -- the guard of the service told how it ended; NULL: written before 1.6
);
