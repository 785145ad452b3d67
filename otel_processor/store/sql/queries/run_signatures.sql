-- The tool calls that one run made more than once, the most repeated first.
select
    signature,
    any_value(tool) as tool,
    left(any_value(arguments), 200) as arguments,
    count(*) as calls,
    count(*) filter (progress = false) as flat_calls,
    min(step) as first_step,
    max(step) as last_step
from calls_of_run
where kind = 'tool' and signature is not null
group by signature
having count(*) > 1
order by calls desc, first_step, signature
limit $limit;
