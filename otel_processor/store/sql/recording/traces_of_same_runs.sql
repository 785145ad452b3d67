-- All traces of the runs that these traces belong to, and those runs.
select distinct t.trace_id, t.run_id
from trace_runs as t
where t.run_id in (
    select run_id from trace_runs where trace_id in (select unnest(from_json($trace_ids::JSON, '["VARCHAR"]')))
);
