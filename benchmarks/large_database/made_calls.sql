-- The calls of all runs in the order in which they ended, without their texts.
create temp table made_calls as
with placed as (
    select
        r.number,
        r.run_id,
        r.position,
        r.position // 2 + 1 as step,
        if(r.position % 2 = 0, 'model', 'tool') as kind,
        if(r.has_sub_agent and r.position // 2 % 4 >= 2, 'checker', r.agent) as agent,
        -- In a loop the first call of it is made again and again; now and then a healthy run asks again too.
        case
            when r.position // 2 + 1 between r.loop_from and r.loop_to then r.loop_from
            when r.position > 2 and chance(r.number, r.position, 'again') < 0.04 then r.position // 2
            else r.position // 2 + 1
        end as asked,
        r.position // 2 + 1 > r.loop_from and r.position // 2 + 1 <= r.loop_to as is_repeat,
        r.loop_fails,
        r.model,
        (r.start_us + r.position * r.pace_us)::BIGINT as start_us,
        (r.start_us + (r.position + 0.9) * r.pace_us)::BIGINT as end_us
    from (select *, unnest(range(calls)) as position from made_runs) as r
),
answered as (
    select
        *,
        case when kind = 'tool' then
            ['web_search', 'read_page', 'read_file', 'run_query', 'edit_file', 'run_tests', 'send_report', 'check_job_status']
                [1 + (hash(number, asked, 'tool') % 8)::INTEGER]
        end as tool,
        kind = 'tool' and if(is_repeat, loop_fails, chance(number, position, 'error') < 0.03) as is_error,
        case
            when kind = 'model' then null
            when is_repeat or chance(number, position, 'error') < 0.03 then false
            when chance(number, position, 'silent') < 0.04 then null
            else true
        end as progress
    from placed
),
-- Whatever brings something new begins a stretch of its own: streaks and repeats are counted from there.
stretched as (
    select *, count(*) filter (progress) over (partition by number, agent order by position) as stretch
    from answered
)
select
    * exclude (stretch, is_repeat, loop_fails, model),
    model.name as model,
    model.provider as provider,
    model.usd as usd,
    count(*) filter (progress = false) over (partition by number, agent, stretch order by position) as flat_steps,
    if(kind = 'tool', row_number() over (partition by number, agent, stretch, kind, asked order by position), null) as repeats
from stretched
order by end_us, number;
