-- How many runs are going on.
select count(*) from run_rows where stop_reason = 'running';
