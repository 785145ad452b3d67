-- The calls of the chosen runs.
select c.*
from source.call_rows as c
left join source.trace_runs as t on t.trace_id = c.trace_id
where getvariable('everything') or coalesce(c.declared_run_id, t.run_id, c.trace_id) in (from chosen_runs)
