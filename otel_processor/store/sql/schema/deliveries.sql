-- A message about an alert on its way to one sink (ADR 0006). Log and metrics have no rows here: they are told at once.
create table if not exists deliveries (
    delivery_id VARCHAR NOT NULL,
    sink        VARCHAR NOT NULL,     -- scheme, host where it is no secret, short hash of the URL; never the URL
    kind        VARCHAR NOT NULL,     -- alert, recovery, summary
    alert_id    VARCHAR,              -- NULL for a summary
    run_id      VARCHAR,
    pattern     VARCHAR,
    state       VARCHAR NOT NULL,     -- pending, sending, sent, suppressed, held, summed, gave_up
    attempts    INTEGER NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    due_at      TIMESTAMPTZ NOT NULL, -- not tried before; of a suppressed one: told then if it is open still
    claimed_by  VARCHAR,              -- who sends it; until the lease is over nobody else does
    lease_until TIMESTAMPTZ,
    tried_at    TIMESTAMPTZ,
    sent_at     TIMESTAMPTZ,
    error       VARCHAR,              -- of the last try, without secrets
    awaits_end  BOOLEAN NOT NULL,     -- sent, and the end of the alert is yet to be told
    summary_id  VARCHAR               -- held back: the summary that tells of it
);
