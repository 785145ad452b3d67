-- Runs, and traces that belong to no run, of which nothing was seen since a moment; the oldest first, from a place on.
-- A trace without a run has no row that says when it was last seen: its spans do.
with seen as (
    select true as is_run, run_id as id, coalesce(epoch_us(last_seen_at), 0) as seen_us
    from run_rows
    where last_seen_at is null or last_seen_at < make_timestamptz($before_us)
    union all
    select false, trace_id, max(end_unix_nano) // 1000
    from spans
    where trace_id not in (select trace_id from trace_runs)
    group by trace_id
    having max(end_unix_nano) // 1000 < $plain_before_us
)
select is_run, id, seen_us
from seen
where (seen_us, id) > ($after_us, $after_id)
order by seen_us, id
limit $at_most;
