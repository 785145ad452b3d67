-- The calls of some runs, none of which ended before a moment: the row groups of other times are left out.
with chosen_runs as (
    select unnest(from_json($run_ids::JSON, '["VARCHAR"]')) as run_id
),
chosen_traces as (
    select trace_id from trace_runs where run_id in (select run_id from chosen_runs)
    union
    select trace_id
    from call_rows
    where end_unix_nano >= $first_end_ns and declared_run_id in (select run_id from chosen_runs)
    union
    -- A trace that is of no run is one of its own.
    select run_id from chosen_runs
)
select *
from calls
where end_unix_nano >= $first_end_ns
    and trace_id in (select trace_id from chosen_traces)
    and run_id in (select run_id from chosen_runs)
