-- One row per model call or tool call, with the run it belongs to.
create or replace view calls as
select
    coalesce(c.declared_run_id, t.run_id, c.trace_id) as run_id,
    c.* exclude (declared_run_id)
from call_rows as c
left join trace_runs as t on t.trace_id = c.trace_id;
