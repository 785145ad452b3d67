-- Messages that were sent about alerts that are over by now, of which that is not told yet.
select d.delivery_id, d.sink, d.alert_id, d.run_id, d.pattern, epoch_us(a.resolved_at) as resolved_us
from deliveries as d
join alerts as a on a.alert_id = d.alert_id
where d.awaits_end and a.resolved_at is not null and d.sink in (select unnest(from_json($sinks::JSON, '["VARCHAR"]')))
order by a.resolved_at
limit $at_most;
