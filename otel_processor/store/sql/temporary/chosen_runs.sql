-- The runs that a page is about, for the length of a connection: a row of `runs` each. What was chosen stands in variables; NULL: not
-- restricted by that. An empty name stands for runs that have none.
create or replace temp view chosen_runs as
select *
from runs
where (
        getvariable('hours') is null
        or coalesce(last_seen_at, ended_at, started_at) >= now() - to_hours(getvariable('hours'))
    )
    and (
        getvariable('since_us') is null
        or coalesce(last_seen_at, ended_at, started_at) >= make_timestamptz(getvariable('since_us'))
    )
    and (
        getvariable('until_us') is null
        or coalesce(last_seen_at, ended_at, started_at) < make_timestamptz(getvariable('until_us'))
    )
    and (getvariable('tasks') is null or list_contains(getvariable('tasks'), coalesce(task, '')))
    and (getvariable('agents') is null or list_contains(getvariable('agents'), coalesce(agent, '')))
    and (getvariable('services') is null or list_contains(getvariable('services'), coalesce(service, '')))
    and (getvariable('models') is null or list_has_any(getvariable('models'), models));
