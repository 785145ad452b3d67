-- The runs that are asked for; what is left out restricts nothing.
create temp table chosen_runs as
select run_id
from source.run_rows
where (getvariable('since_us') is null or epoch_us(last_seen_at) >= getvariable('since_us'))
    and (len(getvariable('tasks')) = 0 or list_contains(getvariable('tasks'), task))
    and (len(getvariable('run_ids')) = 0 or list_contains(getvariable('run_ids'), run_id));
