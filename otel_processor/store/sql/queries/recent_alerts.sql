-- The alerts of the runs that alerts were told of, with what each run spent so far: first the runs with an open alert (their open
-- ones only), then the others; the run with the newest alert first.
with chosen as (
    select alert_id, run_id, "at", resolved_at is null as is_open
    from chosen_alerts
    where $severity::VARCHAR is null or severity = $severity
),
told as (
    select
        run_id,
        bool_or(is_open) as is_open,
        coalesce(max("at") filter (is_open), max("at")) as newest_at,
        count(*) as run_alerts
    from chosen
    group by run_id
),
placed as (
    select
        *,
        row_number() over (partition by is_open order by newest_at desc, run_id) as place,
        count(*) filter (is_open) over () as open_runs,
        count(*) filter (not is_open) over () as over_runs
    from told
),
shown as (
    select c.alert_id, p.*
    from placed as p
    join chosen as c on c.run_id = p.run_id and c.is_open = p.is_open
    where p.place <= case when p.is_open then $open_limit else $over_limit end
    qualify row_number() over (partition by c.run_id order by c."at" desc, c.alert_id) <= $per_run
)
select
    a.alert_id,
    a.run_id,
    a."at" as raised_at,
    a.severity,
    a.pattern,
    a.action,
    a.stop_reason,
    coalesce(a.task, r.task) as task,
    coalesce(a.agent, r.agent) as agent,
    a.tool,
    left(a.message, 600) as message,
    a.resolved_at,
    a.resolved_at >= r.ended_at as until_the_end,
    s.is_open,
    s.run_alerts,
    s.open_runs,
    s.over_runs,
    r.run_id is not null as has_run,
    r.stop_reason as run_stop_reason,
    r.steps,
    r.tokens,
    r.cost_usd,
    r.unpriced_calls
from shown as s
join alerts as a on a.alert_id = s.alert_id and a.run_id = s.run_id
left join runs as r on r.run_id = s.run_id
order by s.is_open desc, s.newest_at desc, s.run_id, raised_at desc, a.alert_id;
