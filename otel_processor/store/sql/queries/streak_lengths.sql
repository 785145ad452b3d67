-- How many of the chosen runs have which longest streak of flat steps, everything from $cap on in one row. Runs that only the guard
-- told of have none.
select
    least(longest_flat_streak, $cap::INTEGER)::INTEGER as streak,
    flagged_reason is not null as flagged,
    count(*) as runs
from chosen_runs
where longest_flat_streak is not null
group by all
order by streak, flagged;
