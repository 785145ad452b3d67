-- The summary that waits for its time at a sink.
select delivery_id from deliveries where sink = $sink and kind = 'summary' and state = 'pending' order by created_at limit 1;
