-- Alerts from before a moment of which neither the run nor the trace is stored: a guard without spans told them.
delete from alerts
where "at" < make_timestamptz($before_us)
    and run_id not in (select run_id from run_rows)
    and trace_id not in (select trace_id from spans);
