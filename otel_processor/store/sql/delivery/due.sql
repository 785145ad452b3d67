-- Messages that are due and that nobody else is sending: summaries first, then what was not tried yet, then the others in any order,
-- so that one that is refused each time does not stand in the way.
select delivery_id, sink, kind, alert_id, attempts
from deliveries
where sink in (select unnest(from_json($sinks::JSON, '["VARCHAR"]')))
    and (
        (
            state = 'pending' and due_at <= make_timestamptz($now_us)
            and (claimed_by is null or claimed_by = $sender or lease_until <= make_timestamptz($now_us))
        )
        or (state = 'sending' and lease_until <= make_timestamptz($now_us))
    )
order by
    kind = 'summary' desc, attempts > 0,
    case when attempts = 0 then created_at end, case when attempts = 0 then rowid end, random()
limit $at_most;
