-- What is counted of the chosen runs.
select *
from source.run_totals
where getvariable('everything') or run_id in (from chosen_runs)
