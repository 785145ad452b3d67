-- Messages that were tried often enough and are not being tried now are given up.
update deliveries
set state = 'gave_up', claimed_by = null, lease_until = null
where attempts >= $most and sink in (select unnest(from_json($sinks::JSON, '["VARCHAR"]')))
    and (state = 'pending' or (state = 'sending' and lease_until <= make_timestamptz($now_us)))
returning sink, coalesce(error, 'its senders died');
