-- The share of signed tool calls that repeat an earlier signature of their run, per task.
create or replace view repeated_tool_signature_rate as
with per_signature as (
    select r.task, c.run_id, c.signature, count(*) as calls
    from calls as c
    join runs as r on r.run_id = c.run_id
    where c.kind = 'tool' and c.signature is not null
    group by all
)
select
    task,
    sum(calls)::BIGINT as signed_tool_calls,
    sum(calls - 1)::BIGINT as repeated_tool_calls,
    sum(calls - 1) / sum(calls) as repeated_tool_signature_rate
from per_signature
group by task;
