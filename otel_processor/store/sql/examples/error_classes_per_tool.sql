-- How do tools fail?
select
    tool,
    error_class,
    count(*) as failures,
    count(distinct run_id) as runs,
    left(mode(error_message), 200) as commonest_message,
    max(ended_at) as last_time
from calls
where kind = 'tool' and is_error
group by tool, error_class
order by failures desc
limit 100;
