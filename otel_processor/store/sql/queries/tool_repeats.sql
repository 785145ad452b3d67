-- The calls of one tool that single runs made more than once: arguments, how often all in all, in how many runs, without progress how
-- often, and the run that made it most often. The most repeated first, at most $limit.
with of_runs as (
    select
        signature,
        run_id,
        count(*) as times,
        count(*) filter (not progress) as flat_calls,
        max(end_unix_nano) as last_end_unix_nano
    from calls
    where kind = 'tool' and coalesce(tool, '') = $tool and signature is not null
        and run_id in (select run_id from chosen_runs where repeated_signature_rate > 0)
    group by signature, run_id
    having count(*) > 1
),
repeated as (
    select
        signature,
        sum(times)::BIGINT as times,
        count(*) as runs,
        sum(flat_calls)::BIGINT as flat_calls,
        arg_max({'run_id': run_id, 'times': times, 'end_unix_nano': last_end_unix_nano}, (times, last_end_unix_nano)) as worst
    from of_runs
    group by signature
    order by times desc, signature
    limit $limit
),
-- The arguments are read of these few calls only.
told as (
    select any_value(left(c.arguments, 300)) as arguments, c.signature
    from call_rows as c
    join repeated as r on r.signature = c.signature and r.worst.end_unix_nano = c.end_unix_nano
    group by c.signature
)
select
    r.signature,
    t.arguments,
    r.times,
    r.runs,
    r.flat_calls,
    r.worst.run_id as run_id,
    r.worst.times as run_times
from repeated as r
left join told as t on t.signature = r.signature
order by r.times desc, r.signature
limit $limit;
