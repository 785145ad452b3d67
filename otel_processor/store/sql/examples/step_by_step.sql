-- What did an agent do, step by step? (here the run that was flagged last; put another run_id in)
select
    step,
    agent,
    coalesce(tool, model) as called,
    progress,
    repeats,
    flat_steps,
    is_error,
    left(arguments, 200) as arguments,
    left(result, 200) as result,
    started_at
from calls
where run_id = (
    select run_id from runs order by flagged_reason is null, coalesce(last_seen_at, started_at) desc limit 1
)
order by end_unix_nano, span_id
limit 1000;
