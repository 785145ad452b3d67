-- What the model calls of the chosen runs cost and used in each stretch of time, for each of the $top models that come first by
-- $measure ('cost' or 'tokens'), all others together as one (is_rest). Stretches are hours over up to two days, days over up to half a
-- year, else weeks, in the viewer's zone; where there are more than 190 the last ones are taken. What only a run's root tells counts
-- when the run began, without a model (is_root).
with told as (
    select
        false as is_root,
        coalesce(model, '') as model,
        coalesce(started_at, ended_at) as begun_at,
        coalesce(input_tokens, 0) + coalesce(output_tokens, 0) as tokens,
        coalesce(input_tokens, output_tokens) is not null as has_tokens,
        cost_usd
    from calls
    where kind = 'model'
        and run_id in (select run_id from chosen_runs)
        and (getvariable('models') is null or list_contains(getvariable('models'), model))
    union all
    select
        true,
        '',
        r.started_at,
        coalesce(case when t.input_tokens is null then r.root_input_tokens end, 0)
            + coalesce(case when t.output_tokens is null then r.root_output_tokens end, 0),
        coalesce(
            case when t.input_tokens is null then r.root_input_tokens end,
            case when t.output_tokens is null then r.root_output_tokens end
        ) is not null,
        case when t.cost_usd is null then r.root_cost_usd end
    from run_rows as r
    left join run_totals as t on t.run_id = r.run_id
    where getvariable('models') is null
        and r.run_id in (select run_id from chosen_runs)
),
known as (
    select is_root, model, begun_at, case when has_tokens then tokens end as tokens, cost_usd
    from told
    where begun_at is not null and (has_tokens or cost_usd is not null)
),
spanned as (
    select
        case
            when max(begun_at) - min(begun_at) <= interval 48 hours then 'hour'
            when max(begun_at) - min(begun_at) <= interval 184 days then 'day'
            else 'week'
        end as unit
    from known
),
summed as (
    -- By quarters of an hour first, of which each lies in one day of any zone: few rows are left to be put into the
    -- viewer's days.
    select is_root, model, time_bucket(interval 15 minutes, begun_at) as begun_at, sum(tokens) as tokens, sum(cost_usd) as cost
    from known
    group by all
),
ranked as (
    select
        is_root,
        model,
        row_number() over (
            order by
                case when $measure = 'cost' then sum(cost) else sum(tokens) end desc nulls last,
                sum(tokens) desc nulls last,
                model,
                is_root
        ) as place
    from summed
    group by is_root, model
)
select
    p.unit,
    date_trunc(p.unit, timezone($zone, s.begun_at)) as stretch,
    least(r.place, $top::BIGINT + 1) as place,
    r.place > $top::BIGINT as is_rest,
    case when r.place <= $top::BIGINT then any_value(nullif(r.model, '')) end as model,
    case when r.place <= $top::BIGINT then any_value(r.is_root) else false end as is_root,
    sum(s.tokens)::BIGINT as tokens,
    sum(s.cost) as cost
from summed as s
join ranked as r on r.model = s.model and r.is_root = s.is_root
cross join spanned as p
group by p.unit, stretch, least(r.place, $top::BIGINT + 1), r.place > $top::BIGINT, r.place <= $top::BIGINT
qualify dense_rank() over (order by stretch desc) <= 190
order by stretch, place;
