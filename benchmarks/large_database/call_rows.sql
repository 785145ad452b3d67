-- The calls with their texts, tokens and costs.
insert into call_rows by name
with told as (
    select
        c.*,
        if(c.kind = 'tool', '{"query": "' || prose(100 + 500 * pow(chance(number, asked, 'long'), 3), hash(number, asked)) || '"}', null)
            as arguments,
        case
            when c.kind = 'model' or (c.progress is null and not c.is_error) then null
            when c.is_error then 'the service answered: ' || prose(80, hash(asked))
            else prose(100 + 1900 * pow(chance(number, asked, 'answer'), 2), hash(number, asked, c.progress))
        end as result,
        if(c.kind = 'model' and chance(number, position, 'usage') > 0.01, 600 + least(c.step * 140, 60000)
            + (chance(number, position, 'in') * 800)::BIGINT, null) as input_tokens
    from made_calls as c
),
spent as (
    select
        *,
        if(input_tokens is null, null, 40 + (chance(number, position, 'out') * 500)::BIGINT) as output_tokens,
        if(provider = 'ollama', null, (input_tokens * 0.6 * chance(number, 'cache'))::BIGINT) as cache_read_tokens
    from told
)
select
    run_id as trace_id,
    md5(run_id || position)[:16] as span_id,
    step,
    kind,
    agent,
    tool,
    if(kind = 'tool', 'call_' || position, null) as call_id,
    arguments,
    if(is_error, null, result) as result,
    is_error,
    if(is_error, ['transient', 'permanent', 'validation', 'other'][1 + (hash(number, asked, 'class') % 4)::INTEGER], null) as error_class,
    if(is_error, result, null) as error_message,
    if(kind = 'tool', sha256(tool || arguments), null) as signature,
    if(is_error, null, sha256(result)) as fingerprint,
    progress,
    repeats,
    flat_steps,
    case
        when kind = 'model' then null
        when tool = 'check_job_status' then 'poll'
        when tool in ('edit_file', 'send_report') then 'write'
        when tool = 'run_tests' then 'unknown'
        else 'read'
    end as effect,
    if(kind = 'model', model, null) as model,
    if(kind = 'model', provider, null) as provider,
    input_tokens,
    output_tokens,
    cache_read_tokens,
    (input_tokens - coalesce(cache_read_tokens, 0) * 0.9 + output_tokens * 4) * usd / 1e6 as cost_usd,
    if(input_tokens is not null and usd is not null, 'price_list', null) as cost_source,
    if(kind = 'model', if(position = 2 * step - 2 and input_tokens is not null, 'tool_calls', 'stop'), null) as finish_reason,
    make_timestamptz(start_us) as started_at,
    make_timestamptz(end_us) as ended_at,
    end_us * 1000 as end_unix_nano,
    'genai' as dialect
from spent;
