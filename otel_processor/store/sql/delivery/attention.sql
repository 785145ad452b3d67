-- What these sinks wait for: when the next message is due for a sender, how many alerts await their end, how many have come to it.
-- An alert that somebody removed has no end to await.
select
    min(
        case
            when d.state = 'sending' then epoch_us(d.lease_until)
            when d.state = 'pending' and epoch_us(d.due_at) > $beyond_us then 0
            when d.state = 'pending' and d.claimed_by <> $sender and epoch_us(d.lease_until) <= $beyond_us
                then greatest(epoch_us(d.due_at), epoch_us(d.lease_until))
            when d.state = 'pending' or (d.state = 'suppressed' and a.alert_id is not null and a.resolved_at is null)
                then epoch_us(d.due_at)
        end
    ) as next_us,
    count(*) filter (d.awaits_end and a.alert_id is not null and a.resolved_at is null) as awaiting,
    count(*) filter (d.awaits_end and a.resolved_at is not null) as ended
from deliveries as d
left join alerts as a on a.alert_id = d.alert_id
where (d.awaits_end or d.state in ('pending', 'sending', 'suppressed')) and d.sink in (select unnest(from_json($sinks::JSON, '["VARCHAR"]')));
