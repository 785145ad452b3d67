-- The runs to make, the earliest first: what each is for, how many steps it takes, and from which to which step it goes in circles.
create temp table made_runs as
with numbered as (
    select
        range as number,
        $runs::BIGINT - range <= $running::BIGINT as is_running,
        -- A few very long ones, spread over the whole time.
        range % greatest($runs::BIGINT // 5, 1) = greatest($runs::BIGINT // 5, 1) // 2 as is_long,
        floor(200 * pow(chance(range, 'task'), 2.5))::INTEGER as task_number
    from range($runs::BIGINT)
),
shaped as (
    select
        *,
        case
            when is_long then $longest::BIGINT
            else least(
                1 + floor(exp(
                    ln($steps::DOUBLE) - 0.28
                    + 0.75 * sqrt(-2 * ln(greatest(chance(number, 'a'), 1e-6))) * cos(2 * pi() * chance(number, 'b'))
                )),
                400
            )::BIGINT
        end as drawn_steps,
        case
            when is_running then if(chance(number, 'kind') < 0.5, 'stuck', 'healthy')
            when is_long then if(number < $runs::BIGINT // 2, 'stuck', 'healthy')
            when chance(number, 'kind') < 0.08 then 'stuck'
            when chance(number, 'kind') < 0.13 then 'left'
            else 'healthy'
        end as kind,
        (1 + 5 * chance(number, 'pace')) * 1000000 as pace_us
    from numbered
),
sized as (
    select *, if(kind = 'healthy', drawn_steps, greatest(drawn_steps, 8)) as steps
    from shaped
)
select
    number,
    md5('run' || number) as run_id,
    is_running,
    kind,
    steps,
    pace_us,
    -- Calls: a model call and a tool call a step, and a last model call where the run has ended.
    2 * steps + if(is_running, 0, 1) as calls,
    if(kind = 'healthy', null, (steps * 0.4)::BIGINT) as loop_from,
    case kind when 'stuck' then steps when 'left' then (steps * 0.75)::BIGINT end as loop_to,
    chance(number, 'failing') < 0.2 as loop_fails,
    chance(number, 'lanes') < 0.1 and kind = 'healthy' as has_sub_agent,
    ['summarise', 'compare', 'research', 'review', 'extract', 'translate', 'plan', 'crawl', 'reconcile', 'answer'][1 + task_number % 10]
        || ' ' || ['invoices', 'contracts', 'tickets', 'papers', 'listings', 'pull requests', 'reports', 'orders', 'reviews', 'logs',
        'prices', 'claims', 'surveys', 'routes', 'menus', 'budgets', 'minutes', 'manuals', 'leads', 'grants'][1 + task_number // 10]
        as task,
    [null, 'research', 'code', 'scrape'][1 + task_number % 4] as task_type,
    ['researcher', 'coder', 'clerk', 'planner', 'scout', 'analyst', 'editor', 'tester'][1 + task_number % 8] as agent,
    ['agents', 'backoffice', 'shop', 'lab', 'support'][1 + task_number % 5] as service,
    case
        when chance(number, 'model') < 0.45 then {'name': 'gpt-5-mini', 'provider': 'openai', 'usd': 0.25}
        when chance(number, 'model') < 0.65 then {'name': 'gpt-5', 'provider': 'openai', 'usd': 1.25}
        when chance(number, 'model') < 0.85 then {'name': 'claude-sonnet-4-5', 'provider': 'anthropic', 'usd': 3.0}
        when chance(number, 'model') < 0.95 then {'name': 'gemini-2.5-flash', 'provider': 'google', 'usd': 0.3}
        else {'name': 'llama-3.3-70b-local', 'provider': 'ollama', 'usd': null}
    end as model,
    -- What is running was seen in the last two minutes; everything else has ended by now.
    if(
        is_running,
        $now_us::BIGINT - 2 * steps * pace_us - chance(number, 'seen') * 110000000,
        least(
            $now_us::BIGINT - $days::BIGINT * 86400000000 * (1 - (number + chance(number, 'start')) / $runs::BIGINT),
            $now_us::BIGINT - (2 * steps + 2) * pace_us - 130000000
        )
    )::BIGINT as start_us
from sized;
