-- One open alert per run and pattern. Told once, never withdrawn, only resolved.
create table if not exists alerts (
    alert_id    VARCHAR NOT NULL,
    run_id      VARCHAR NOT NULL,
    trace_id    VARCHAR NOT NULL,
    span_id     VARCHAR NOT NULL,
    "at"        TIMESTAMPTZ NOT NULL,
    task        VARCHAR,
    agent       VARCHAR,
    tool        VARCHAR,
    pattern     VARCHAR NOT NULL,
    severity    VARCHAR NOT NULL,   -- warning, critical
    action      VARCHAR NOT NULL,   -- what the guard advises: nudge, compress, stop
    stop_reason VARCHAR,            -- the reason a stop carries or, in observe mode, would carry
    message     VARCHAR NOT NULL,
    evidence    JSON,
    resolved_at TIMESTAMPTZ
);
