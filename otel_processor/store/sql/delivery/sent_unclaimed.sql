-- A message was sent while the database could not be reached: its row, as far as it is there, says so.
update deliveries
set state = 'sent', sent_at = make_timestamptz($at_us), tried_at = make_timestamptz($at_us), error = null, claimed_by = null,
    lease_until = null, awaits_end = $awaits_end
where sink = $sink and state <> 'sent'
    and (
        delivery_id = $delivery_id
        or (
            $kind = 'alert' and kind = 'alert' and run_id = $run_id and pattern = $pattern
            and (alert_id = $alert_id or state in ('pending', 'sending', 'suppressed'))
        )
    )
returning delivery_id;
