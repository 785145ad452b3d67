-- The alerts of the chosen runs, for the length of a connection. An alert whose run has no row (a guard told it that stands alone) goes
-- by its own time, task and agent; it names no model and no service.
create or replace temp view chosen_alerts as
select *
from alerts
where run_id in (select r.run_id from chosen_runs as r)
    or (
        run_id not in (select r.run_id from run_rows as r)
        and (getvariable('hours') is null or "at" >= now() - to_hours(getvariable('hours')))
        and (getvariable('since_us') is null or "at" >= make_timestamptz(getvariable('since_us')))
        and (getvariable('until_us') is null or "at" < make_timestamptz(getvariable('until_us')))
        and (getvariable('tasks') is null or list_contains(getvariable('tasks'), coalesce(task, '')))
        and (getvariable('agents') is null or list_contains(getvariable('agents'), coalesce(agent, '')))
        and getvariable('models') is null
        and getvariable('services') is null
    );
