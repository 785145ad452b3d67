-- The calls of some runs; none of them ended before $first_end_ns, so the row groups of other times are left out.
-- What `calls` says of a call's run, said the other way round, from the few runs: a join over all traces takes twice as long.
with chosen_runs as (
    select unnest(from_json($run_ids::JSON, '["VARCHAR"]')) as run_id
)
select t.run_id, c.* exclude (declared_run_id)
from call_rows as c
join (select trace_id, run_id from trace_runs where run_id in (from chosen_runs)) as t on t.trace_id = c.trace_id
where c.end_unix_nano >= $first_end_ns and c.declared_run_id is null
union all
select declared_run_id, * exclude (declared_run_id)
from call_rows
where end_unix_nano >= $first_end_ns and declared_run_id in (from chosen_runs)
