-- How calls of one tool failed in the chosen runs: the beginning of what was said, its class, how often, in how many runs and when
-- last. A failure that carries no message is told by its result. The commonest first, at most $limit.
select
    left(coalesce(error_message, result), 160) as message,
    coalesce(error_class, 'other') as error_class,
    count(*) as times,
    count(distinct run_id) as runs,
    max(ended_at) as last_at,
    arg_max(run_id, end_unix_nano) as run_id,
    arg_max(step, end_unix_nano) as step
from calls
where kind = 'tool' and coalesce(tool, '') = $tool and (is_error or error_class is not null)
    and run_id in (select run_id from chosen_runs)
group by all
order by times desc, last_at desc, message
limit $limit;
