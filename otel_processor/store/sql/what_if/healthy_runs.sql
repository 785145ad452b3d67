-- What healthy runs of these tasks used, the latest of each: what `recording/task_history.sql` asks for one task and one time.
with healthy as (
    select run_id, task, ended_at
    from run_rows
    where task in (select unnest(from_json($tasks::JSON, '["VARCHAR"]')))
        and status = 'ok' and flagged_reason is null and ended_at is not null and ended_at < make_timestamptz($before_us::BIGINT)
    qualify row_number() over (partition by task order by ended_at desc, run_id) <= $at_most
)
select
    h.task,
    h.run_id,
    epoch_us(any_value(h.ended_at)) as ended_us,
    nullif(count(distinct c.step) filter (c.step > 0), 0) as steps,
    sum(coalesce(c.input_tokens, 0) + coalesce(c.output_tokens, 0)) filter (c.kind = 'model') as tokens,
    sum(c.cost_usd) filter (c.kind = 'model') as cost_usd
from calls as c
join healthy as h on h.run_id = c.run_id
group by h.task, h.run_id
order by ended_us desc, h.run_id;
