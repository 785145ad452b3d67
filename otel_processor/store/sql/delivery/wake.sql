-- What was suppressed and is open still when its cooldown is over is told after all.
update deliveries
set state = 'pending'
from alerts as a
where a.alert_id = deliveries.alert_id and a.resolved_at is null
    and deliveries.state = 'suppressed' and deliveries.due_at <= make_timestamptz($now_us)
    and deliveries.sink in (select unnest(from_json($sinks::JSON, '["VARCHAR"]')));
