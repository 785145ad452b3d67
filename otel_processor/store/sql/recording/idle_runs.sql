-- Open runs of which nothing was seen since a moment, which can be another one for a type of task; the oldest first.
select r.run_id, r.idle_reason, epoch_us(r.last_seen_at), coalesce(o.before_us, $before_us)
from run_rows as r
left join (
    select unnest(l.task_type) as task_type, unnest(l.before_us) as before_us
    from (select from_json($others::JSON, '{"task_type": ["VARCHAR"], "before_us": ["BIGINT"]}') as l)
) as o on o.task_type = r.task_type
where r.stop_reason = 'running' and epoch_us(r.last_seen_at) < coalesce(o.before_us, $before_us)
order by r.last_seen_at
limit $at_most;
