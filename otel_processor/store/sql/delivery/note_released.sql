-- A message was claimed and not tried.
update deliveries
set state = 'pending', attempts = attempts - 1, tried_at = null, claimed_by = null, lease_until = null
where delivery_id = $delivery_id and state = 'sending' and claimed_by = $sender;
