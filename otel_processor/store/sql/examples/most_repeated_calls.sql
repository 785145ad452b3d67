-- Which calls were repeated most within one run?
select
    run_id,
    tool,
    count(*) as times,
    count(*) filter (progress = false) as without_progress,
    left(any_value(arguments), 200) as arguments,
    max(ended_at) as last_time
from calls
where kind = 'tool' and signature is not null
group by run_id, tool, signature
having count(*) > 1
order by times desc, last_time desc
limit 100;
