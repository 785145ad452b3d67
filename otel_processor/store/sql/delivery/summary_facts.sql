-- What a summary tells: how many alerts in how many runs were held back for it, how many are over by now, and the first few.
with held as (
    select a.alert_id, a.run_id, a.task, a.pattern, a.resolved_at, bool_or(d.kind = 'alert') as is_news, min(d.created_at) as since
    from deliveries as d
    join alerts as a on a.alert_id = d.alert_id
    where d.summary_id = $summary_id and d.state = 'held'
    group by all
)
select
    run_id, task, pattern,
    count(*) filter (is_news) over () as alerts,
    (select count(distinct run_id) from held where is_news) as runs,
    count(*) filter (resolved_at is not null) over () as over_by_now,
    epoch_us(min(since) over ()) as since_us
from held
order by is_news desc, since, alert_id
limit $at_most;
