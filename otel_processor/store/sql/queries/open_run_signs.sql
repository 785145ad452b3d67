-- One row: how many runs are open, when one of them was seen last, and when anybody wrote last.
select
    count(*) as open_runs,
    max(last_seen_at) as seen_at,
    (select max(last_write_at) from writers) as written_at
from run_rows
where status = 'running';
