-- The policies that the chosen runs were judged by.
select *
from source.policies
where getvariable('everything')
    or policy_hash in (select policy_hash from source.run_rows where run_id in (from chosen_runs))
