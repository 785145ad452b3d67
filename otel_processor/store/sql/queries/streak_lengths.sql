-- How many of the chosen runs have which longest streak of flat steps, everything from $cap on in one row.
select
    least(longest_flat_streak, $cap::INTEGER)::INTEGER as streak,
    flagged_reason is not null as flagged,
    count(*) as runs
from chosen_runs
group by all
order by streak, flagged;
