-- Which run a trace belongs to. A better answer later updates one row; nothing else is keyed to the run.
create table if not exists trace_runs (
    trace_id   VARCHAR NOT NULL,
    run_id     VARCHAR NOT NULL,
    decided_by VARCHAR NOT NULL   -- declared, agent_root, conversation, trace
);
