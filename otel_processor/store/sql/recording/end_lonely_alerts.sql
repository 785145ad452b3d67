-- Open alerts from before a moment, of runs of which nothing is stored and nobody will say that they have ended.
update alerts
set resolved_at = greatest("at", make_timestamptz($before_us))
where resolved_at is null and "at" < make_timestamptz($before_us)
    and not exists (select 1 from run_rows as r where r.run_id = alerts.run_id)
    and not exists (select 1 from spans as s where s.trace_id = alerts.trace_id);
