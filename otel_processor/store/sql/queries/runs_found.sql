-- One row: how many of the chosen runs a search leaves, with the conditions of `runs_page`.
select count(*) as runs
from chosen_runs
where (
        $search::VARCHAR is null
        or contains(lower(coalesce(task, '')), lower($search::VARCHAR))
        or contains(lower(coalesce(agent, '')), lower($search::VARCHAR))
        or contains(lower(coalesce(service, '')), lower($search::VARCHAR))
        or contains(lower(run_id), lower($search::VARCHAR))
    )
    and case $status::VARCHAR
        when 'running' then status = 'running'
        when 'ended' then status <> 'running'
        when 'looped' then flagged_reason is not null
        else true
    end
    and ($reasons::VARCHAR is null or list_contains(from_json($reasons::JSON, '["VARCHAR"]'), stop_reason))
    and (
        $patterns::VARCHAR is null
        or list_contains(from_json($patterns::JSON, '["VARCHAR"]'), flagged_reason)
        or run_id in (select a.run_id from alerts as a where list_contains(from_json($patterns::JSON, '["VARCHAR"]'), a.pattern))
    );
