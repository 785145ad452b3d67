-- A message was not sent and waits for its next try, unless somebody else has taken it over.
update deliveries
set state = 'pending', due_at = make_timestamptz($due_us), error = $error, claimed_by = null, lease_until = null
where delivery_id = $delivery_id and state = 'sending' and claimed_by = $sender;
