-- The thresholds that runs were judged by; `runs.policy_hash` names one of these.
create table if not exists policies (
    policy_hash   VARCHAR NOT NULL,
    first_used_at TIMESTAMPTZ NOT NULL,
    fields        JSON NOT NULL           -- every field of Policy with its value; that of a type of task names no types
);
