-- What can be counted of a run's calls, counted again whenever they change (ADR 0007). Read it through the view `runs`.
create table if not exists run_totals (
    run_id              VARCHAR NOT NULL,
    steps               BIGINT NOT NULL,
    last_step           INTEGER NOT NULL,
    tool_calls          BIGINT NOT NULL,
    model_calls         BIGINT NOT NULL,
    failed_tool_calls   BIGINT NOT NULL,
    signed_tool_calls   BIGINT NOT NULL,    -- those with a signature
    repeated_tool_calls BIGINT NOT NULL,    -- of these, the ones that repeat an earlier signature of the run
    flat_steps          BIGINT NOT NULL,
    longest_flat_streak INTEGER NOT NULL,
    open_flat_streak    INTEGER NOT NULL,   -- the streak that the last tool call left
    input_tokens        BIGINT,
    output_tokens       BIGINT,
    cache_read_tokens   BIGINT,
    cost_usd            DOUBLE,
    unpriced_calls      BIGINT NOT NULL,
    calls_without_usage BIGINT NOT NULL,
    wasted_tokens       BIGINT,
    wasted_cost_usd     DOUBLE,
    models              VARCHAR[] NOT NULL,
    last_tool           VARCHAR,            -- that call's
    first_end_unix_nano BIGINT NOT NULL     -- its first call ended then: row groups from before need not be looked at
);
