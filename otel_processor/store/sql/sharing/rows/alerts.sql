-- The alerts of the chosen runs.
select *
from source.alerts
where getvariable('everything') or run_id in (from chosen_runs)
