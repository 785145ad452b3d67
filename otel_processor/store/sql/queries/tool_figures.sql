-- What the tools of the chosen runs do: a row for each of the $top tools called most, and one more for all others together, whose
-- latency is left out: a median over several tools says nothing. `choice` is the name as it is asked for, empty for calls without.
-- Failed: marked as an error, or an error class was found in what came back; those are neither new, flat nor unknown here, while
-- flat_calls counts every call without progress. Retries are the calls that directly follow a failed one of the same signature in
-- their run: all failed calls but those that nothing followed.
with chosen as (
    select run_id, row_number() over () as run_number, repeated_signature_rate > 0 as has_repeats
    from chosen_runs
),
told as (
    select
        coalesce(c.tool, '') as tool,
        r.run_number,
        case when r.has_repeats then hash(c.signature) end as signature,
        c.signature is not null as is_signed,
        c.is_error or c.error_class is not null as has_failed,
        c.error_class,
        c.progress,
        c.effect,
        c.end_unix_nano,
        case when c.ended_at >= c.started_at then (epoch_us(c.ended_at) - epoch_us(c.started_at)) / 1e6 end as seconds
    from calls as c
    join chosen as r on r.run_id = c.run_id
    where c.kind = 'tool'
),
of_tools as (
    select
        tool,
        count(*) as calls,
        count(distinct run_number) as runs,
        count(*) filter (has_failed) as failed_calls,
        count(*) filter (not has_failed and progress) as new_calls,
        count(*) filter (not has_failed and not progress) as stale_calls,
        count(*) filter (has_failed and error_class = 'transient') as transient_errors,
        count(*) filter (has_failed and error_class = 'permanent') as permanent_errors,
        count(*) filter (has_failed and error_class = 'validation') as validation_errors,
        count(*) filter (is_signed) as signed_calls,
        count(progress) as known_calls,
        count(*) filter (not progress) as flat_calls,
        count(*) filter (effect = 'read') as read_calls,
        count(*) filter (effect = 'write') as write_calls,
        count(*) filter (effect = 'poll') as poll_calls,
        count(seconds) as timed_calls,
        quantile_cont(seconds, [0.5, 0.95]) as middle_and_most,
        max(seconds) as seconds_max
    from told
    group by tool
),
of_signatures as (
    -- Looked at in runs only that are known to repeat something: others have one call of each.
    select
        tool,
        count(*) as calls,
        count(*) filter (has_failed) as failed_calls,
        max(end_unix_nano) filter (has_failed) = max(end_unix_nano) as failed_at_last
    from told
    where is_signed and signature is not null
    group by tool, run_number, signature
),
of_repeats as (
    select
        tool,
        (sum(calls) - count(*))::BIGINT as repeated_calls,
        (sum(failed_calls) - count(*) filter (failed_at_last))::BIGINT as retries
    from of_signatures
    group by tool
),
placed as (
    select
        t.*,
        s.repeated_calls,
        s.retries,
        least(row_number() over (order by t.calls desc, t.tool), $top::BIGINT + 1) as place
    from of_tools as t
    left join of_repeats as s on s.tool = t.tool
)
select
    place,
    case when place <= $top::BIGINT then any_value(nullif(tool, '')) end as tool,
    case when place <= $top::BIGINT then any_value(tool) end as choice,
    place > $top::BIGINT as is_rest,
    count(*) as tools,
    sum(calls)::BIGINT as calls,
    case when place <= $top::BIGINT then any_value(runs) end as runs,
    sum(failed_calls)::BIGINT as failed_calls,
    sum(new_calls)::BIGINT as new_calls,
    sum(stale_calls)::BIGINT as stale_calls,
    (sum(calls) - sum(failed_calls) - sum(new_calls) - sum(stale_calls))::BIGINT as unknown_calls,
    sum(transient_errors)::BIGINT as transient_errors,
    sum(permanent_errors)::BIGINT as permanent_errors,
    sum(validation_errors)::BIGINT as validation_errors,
    (sum(failed_calls) - sum(transient_errors) - sum(permanent_errors) - sum(validation_errors))::BIGINT as other_errors,
    sum(known_calls)::BIGINT as known_calls,
    sum(flat_calls)::BIGINT as flat_calls,
    sum(signed_calls)::BIGINT as signed_calls,
    coalesce(sum(repeated_calls), 0)::BIGINT as repeated_calls,
    coalesce(sum(retries), 0)::BIGINT as retries,
    sum(read_calls)::BIGINT as read_calls,
    sum(write_calls)::BIGINT as write_calls,
    sum(poll_calls)::BIGINT as poll_calls,
    sum(timed_calls)::BIGINT as timed_calls,
    case when place <= $top::BIGINT then any_value(middle_and_most[1]) end as seconds_median,
    case when place <= $top::BIGINT then any_value(middle_and_most[2]) end as seconds_p95,
    max(seconds_max) as seconds_max
from placed
group by place
order by place;
