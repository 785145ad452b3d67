-- The tool calls that one run made more than once, the most repeated first.
with run_traces as (
    select trace_id from trace_runs where run_id = $run_id
    union
    select trace_id from call_rows where declared_run_id = $run_id
    union
    select $run_id
)
select
    signature,
    any_value(tool) as tool,
    left(any_value(arguments), 200) as arguments,
    count(*) as calls,
    count(*) filter (progress = false) as flat_calls,
    min(step) as first_step,
    max(step) as last_step
from calls
where trace_id in (select trace_id from run_traces) and run_id = $run_id and kind = 'tool' and signature is not null
group by signature
having count(*) > 1
order by calls desc, first_step, signature
limit $limit;
