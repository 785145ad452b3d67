-- Why runs ended, and which of them a loop verdict was given on.
create or replace view stop_reason_distribution as
select
    stop_reason,
    flagged_reason,
    count(*) as runs,
    count(*) / sum(count(*)) over () as share
from run_rows
group by stop_reason, flagged_reason;
