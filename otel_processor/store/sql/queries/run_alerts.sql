-- The alerts of one run with the step at which each was raised, the first first.
select
    a.alert_id,
    a."at" as raised_at,
    a.severity,
    a.pattern,
    a.action,
    a.stop_reason,
    coalesce(a.agent, (select max(r.agent) from run_rows as r where r.run_id = a.run_id)) as agent,
    a.tool,
    left(a.message, 600) as message,
    a.resolved_at,
    a.resolved_at >= (select max(r.ended_at) from run_rows as r where r.run_id = a.run_id) as until_the_end,
    min(c.step) as step
from alerts as a
left join calls_of_run as c on c.trace_id = a.trace_id and c.span_id = a.span_id
where a.run_id = $run_id
group by all
order by raised_at, alert_id
limit $limit;
