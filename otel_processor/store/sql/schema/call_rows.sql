-- A model call or tool call. Read it through the view `calls`, which knows the run.
create table if not exists call_rows (
    trace_id           VARCHAR NOT NULL,
    span_id            VARCHAR NOT NULL,
    declared_run_id    VARCHAR,           -- loop.run.id, where it differs from the trace's run
    step               INTEGER NOT NULL,  -- 0: no step, the row stands for model calls that were not recorded
    kind               VARCHAR NOT NULL,  -- tool, model
    agent              VARCHAR,
    tool               VARCHAR,
    call_id            VARCHAR,
    arguments          VARCHAR,           -- JSON text, wrappers taken off
    result             VARCHAR,
    is_error           BOOLEAN NOT NULL,
    error_class        VARCHAR,           -- transient, permanent, validation, other
    error_message      VARCHAR,
    signature          VARCHAR,
    fingerprint        VARCHAR,
    progress           BOOLEAN,
    repeats            INTEGER,
    flat_steps         INTEGER NOT NULL,
    effect             VARCHAR,           -- read, write, poll, unknown
    model              VARCHAR,
    provider           VARCHAR,
    input_tokens       BIGINT,            -- cached tokens included
    output_tokens      BIGINT,
    cache_read_tokens  BIGINT,
    cache_write_tokens BIGINT,
    reasoning_tokens   BIGINT,
    cost_usd           DOUBLE,            -- NULL: not known
    cost_source        VARCHAR,           -- span, override, price_list
    finish_reason      VARCHAR,
    started_at         TIMESTAMPTZ,
    ended_at           TIMESTAMPTZ,
    end_unix_nano      BIGINT NOT NULL,   -- with span_id the logical order of a run
    dialect            VARCHAR,
    evidence           JSON,              -- only where content was altered before it was stored: what it was compared by
    content            VARCHAR            -- of its span: redacted, off, NULL
);
