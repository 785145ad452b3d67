-- For each of the $top tasks of the chosen runs with most tool calls: which share of its calls repeats an earlier one of its run, and
-- which share of its steps is flat. One more row for all other tasks.
with chosen as (
    select r.task, r.tool_calls, r.steps, r.flat_steps, c.signed_tool_calls, c.repeated_tool_calls
    from chosen_runs as r
    left join run_totals as c on c.run_id = r.run_id
),
ranked as (
    select task, row_number() over (order by sum(tool_calls) desc, count(*) desc, task) as place
    from chosen
    group by task
),
placed as (
    select
        c.* replace (case when r.place <= $top::BIGINT then c.task end as task),
        c.task as own_task,
        least(r.place, $top::BIGINT + 1) as place
    from chosen as c
    join ranked as r on r.task is not distinct from c.task
)
select
    place,
    any_value(task) as task,
    place > $top::BIGINT as is_rest,
    greatest(count(distinct own_task), 1) as tasks,
    count(*) as runs,
    sum(signed_tool_calls)::BIGINT as signed_tool_calls,
    sum(repeated_tool_calls)::BIGINT as repeated_tool_calls,
    sum(repeated_tool_calls) / nullif(sum(signed_tool_calls), 0) as repeated_share,
    sum(steps)::BIGINT as steps,
    sum(flat_steps)::BIGINT as flat_steps,
    sum(flat_steps) / nullif(sum(steps), 0) as flat_share
from placed
group by place
order by place;
