-- Which of the chosen runs the chosen traces belong to.
select *
from source.trace_runs
where getvariable('everything') or (run_id in (from chosen_runs) and trace_id in (from chosen_traces))
