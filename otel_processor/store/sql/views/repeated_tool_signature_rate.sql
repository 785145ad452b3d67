-- The share of signed tool calls that repeat an earlier signature of their run, per task.
create or replace view repeated_tool_signature_rate as
select
    r.task,
    sum(c.signed_tool_calls)::BIGINT as signed_tool_calls,
    sum(c.repeated_tool_calls)::BIGINT as repeated_tool_calls,
    sum(c.repeated_tool_calls) / sum(c.signed_tool_calls) as repeated_tool_signature_rate
from run_rows as r
join run_totals as c on c.run_id = r.run_id
where c.signed_tool_calls > 0
group by r.task;
