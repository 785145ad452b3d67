-- How many steps a task takes, over its runs.
create or replace view steps_per_task as
select
    task,
    count(*) as runs,
    avg(steps) as avg_steps,
    median(steps) as median_steps,
    quantile_cont(steps, 0.95) as p95_steps,
    max(steps) as max_steps
from runs
group by task;
