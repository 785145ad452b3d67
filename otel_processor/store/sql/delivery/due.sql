-- Messages that are due and that nobody else is sending: summaries first, then what was not tried yet by when it became due (the end
-- of an alert before the next one, which was suppressed at first), then the others in any order, so that one that is refused each
-- time does not stand in the way. What is due beyond all waits, a wrong clock wrote.
select delivery_id, sink, kind, alert_id, attempts
from deliveries
where sink in (select unnest(from_json($sinks::JSON, '["VARCHAR"]')))
    and (
        (
            state = 'pending' and (due_at <= make_timestamptz($now_us) or due_at > make_timestamptz($beyond_us))
            and (
                claimed_by is null or claimed_by = $sender
                or lease_until <= make_timestamptz($now_us) or lease_until > make_timestamptz($beyond_us)
            )
        )
        or (state = 'sending' and lease_until <= make_timestamptz($now_us))
    )
order by
    kind = 'summary' desc, attempts > 0,
    case when attempts = 0 then due_at end, case when attempts = 0 then rowid end, random()
limit $at_most;
