-- Per run: what its model calls add up to beside what its root says of the whole, and one word on how they agree.
-- A difference is root minus leaves, NULL where either is missing. Costs agree within a thousandth: roots round.
-- no_leaves: no model call is recorded; no_usage: none of them tells tokens; differs: tokens or cost do;
-- unpriced: tokens do not differ, but calls have no price; no_root_total: nothing to compare with; agrees: all the rest.
create or replace view cost_reconciliation as
with leaves as (
    select run_id, sum(input_tokens)::BIGINT as input_tokens, sum(output_tokens)::BIGINT as output_tokens, sum(cost_usd) as cost_usd
    from calls
    where kind = 'model' and step > 0
    group by run_id
),
compared as (
    select
        u.run_id,
        u.task,
        u.model_calls,
        l.input_tokens,
        l.output_tokens,
        l.cost_usd,
        r.root_input_tokens,
        r.root_output_tokens,
        r.root_cost_usd,
        r.root_input_tokens - l.input_tokens as input_difference,
        r.root_output_tokens - l.output_tokens as output_difference,
        r.root_cost_usd - l.cost_usd as cost_difference,
        u.unpriced_calls,
        u.calls_without_usage
    from runs as u
    join run_rows as r on r.run_id = u.run_id
    left join leaves as l on l.run_id = u.run_id
)
select
    *,
    case
        when coalesce(model_calls, 0) = 0 then 'no_leaves'
        when input_tokens is null and output_tokens is null then 'no_usage'
        when input_difference <> 0 or output_difference <> 0 then 'differs'
        when unpriced_calls > 0 then 'unpriced'
        when abs(cost_difference) > greatest(abs(root_cost_usd) / 1000, 1e-6) then 'differs'
        when coalesce(input_difference, output_difference, cost_difference) is null then 'no_root_total'
        else 'agrees'
    end as verdict
from compared;
