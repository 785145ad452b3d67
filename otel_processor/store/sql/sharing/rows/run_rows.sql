-- The chosen runs.
select *
from source.run_rows
where getvariable('everything') or run_id in (from chosen_runs)
