-- The summary that waits for its time at a sink. One that was tried may have arrived, and keeps saying the same under its id.
select delivery_id from deliveries where sink = $sink and kind = 'summary' and state = 'pending' and attempts = 0 order by created_at limit 1;
