-- Messages from before a moment that are done with, or whose alert is gone.
delete from deliveries
where greatest(created_at, sent_at, tried_at) < make_timestamptz($before_us)
    and (
        (state in ('sent', 'summed', 'gave_up') and not awaits_end)
        or (alert_id is not null and alert_id not in (select alert_id from alerts))
    );
