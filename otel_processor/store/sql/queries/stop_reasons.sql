-- How many of the chosen runs ended for each reason, those with a loop verdict counted apart; the commonest reason first.
select
    stop_reason,
    flagged_reason is not null as flagged,
    count(*) as runs,
    sum(count(*)) over (partition by stop_reason)::BIGINT as runs_with_reason
from chosen_runs
group by stop_reason, flagged_reason is not null
order by runs_with_reason desc, stop_reason, flagged
limit $limit;
