-- A message was sent while the database could not be reached: its row, as far as it is there, says so.
update deliveries
set state = 'sent', sent_at = make_timestamptz($at_us), tried_at = make_timestamptz($at_us), error = null, claimed_by = null,
    lease_until = null, awaits_end = true
where kind = 'alert' and sink = $sink and state <> 'sent'
    and (alert_id = $alert_id or (run_id = $run_id and pattern = $pattern and state in ('pending', 'sending', 'suppressed')))
returning delivery_id;
