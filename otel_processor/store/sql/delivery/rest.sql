-- A sink does not answer, or asks to be left alone: what is due there waits as well, and that counts as a try where it counts.
update deliveries
set attempts = attempts + case when due_at <= make_timestamptz($now_us) then $counts else 0 end,
    error = $error,
    due_at = greatest(due_at, make_timestamptz($due_us))
where sink = $sink and state = 'pending' and due_at <= make_timestamptz($due_us);
