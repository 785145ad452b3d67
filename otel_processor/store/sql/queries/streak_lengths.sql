-- How many runs have which longest streak of flat steps, everything from $cap on in one row.
select
    least(longest_flat_streak, $cap::INTEGER)::INTEGER as streak,
    flagged_reason is not null as flagged,
    count(*) as runs
from runs
where $hours::BIGINT is null or coalesce(last_seen_at, ended_at, started_at) >= now() - to_hours($hours::BIGINT)
group by all
order by streak, flagged;
