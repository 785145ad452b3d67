-- Each run is one trace.
insert into trace_runs select run_id, run_id, 'agent_root' from made_runs;
