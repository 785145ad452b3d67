-- A message was sent; whoever else claimed it in the meantime, it is.
update deliveries
set state = 'sent', sent_at = make_timestamptz($at_us), error = null, claimed_by = null, lease_until = null,
    awaits_end = kind = 'alert' and $is_open
where delivery_id = $delivery_id and state <> 'sent';
