-- One row: when a chosen run was seen last.
select max(coalesce(last_seen_at, ended_at, started_at)) as seen_at from chosen_runs limit 1;
