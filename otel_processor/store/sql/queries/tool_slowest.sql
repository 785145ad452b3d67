-- The calls of one tool in the chosen runs that took longest, at most $limit.
select
    run_id,
    step,
    agent,
    (epoch_us(ended_at) - epoch_us(started_at)) / 1e6 as seconds,
    ended_at,
    is_error or error_class is not null as has_failed,
    progress
from calls
where kind = 'tool' and coalesce(tool, '') = $tool and ended_at >= started_at
    and run_id in (select run_id from chosen_runs)
order by epoch_us(ended_at) - epoch_us(started_at) desc, end_unix_nano desc, span_id
limit $limit;
