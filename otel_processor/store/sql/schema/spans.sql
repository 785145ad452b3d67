-- A span as received, once however often it was delivered (found by an anti-join, not by a key: keys make inserts slow).
create table if not exists spans (
    trace_id        VARCHAR NOT NULL,
    span_id         VARCHAR NOT NULL,
    parent_span_id  VARCHAR,
    name            VARCHAR NOT NULL,
    kind            VARCHAR NOT NULL,
    start_time      TIMESTAMPTZ,
    end_time        TIMESTAMPTZ,
    start_unix_nano BIGINT NOT NULL,   -- as received: a TIMESTAMPTZ keeps microseconds only
    end_unix_nano   BIGINT NOT NULL,
    status          VARCHAR NOT NULL,  -- UNSET, OK, ERROR
    status_message  VARCHAR,
    service         VARCHAR,
    scope           VARCHAR,
    scope_version   VARCHAR,
    trace_state     VARCHAR,
    attributes      JSON,
    events          JSON,
    resource        JSON,
    links           JSON,
    extra           JSON,              -- flags, dropped counts, schema URLs, scope attributes
    cut             JSON,              -- values that are not whole: {path: {length, sha256}}, {path: {redacted: {kind: times}}}
    received_at     TIMESTAMPTZ NOT NULL,
    content         VARCHAR            -- redacted: secrets were taken out; off: hashes and lengths only; NULL: as it came
);
