-- The chosen runs that a search leaves, for the length of a connection. A pattern is that of an alert or the reason that a run was
-- flagged with.
create or replace temp view found_runs as
select *
from chosen_runs
where (
        getvariable('search') is null
        or contains(lower(coalesce(task, '')), lower(getvariable('search')))
        or contains(lower(coalesce(agent, '')), lower(getvariable('search')))
        or contains(lower(coalesce(service, '')), lower(getvariable('search')))
        or contains(lower(run_id), lower(getvariable('search')))
    )
    and case getvariable('status')
        when 'running' then status = 'running'
        when 'ended' then status <> 'running'
        when 'looped' then flagged_reason is not null
        else true
    end
    and (getvariable('reasons') is null or list_contains(getvariable('reasons'), stop_reason))
    and (
        getvariable('patterns') is null
        or list_contains(getvariable('patterns'), flagged_reason)
        or run_id in (select a.run_id from alerts as a where list_contains(getvariable('patterns'), a.pattern))
    );
