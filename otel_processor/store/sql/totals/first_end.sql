-- The nanosecond before which no call of these runs ended, as far as they are counted.
with chosen_runs as (
    select unnest(from_json($run_ids::JSON, '["VARCHAR"]')) as run_id
)
select least(
    (select min(first_end_unix_nano) from run_totals where run_id in (select run_id from chosen_runs)),
    (select min(epoch_us(started_at)) * 1000 from run_rows where run_id in (select run_id from chosen_runs))
);
