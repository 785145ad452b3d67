-- Say that these messages are being sent.
update deliveries
set state = 'sending', attempts = attempts + 1, claimed_by = $sender,
    lease_until = make_timestamptz($lease_us), tried_at = make_timestamptz($now_us)
where delivery_id in (select unnest(from_json($ids::JSON, '["VARCHAR"]')));
