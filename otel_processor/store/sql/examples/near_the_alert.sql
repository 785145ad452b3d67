-- What came before the newest alerts? (the three calls that led to each)
with newest as (
    select * from alerts order by "at" desc limit 20
)
select a."at" as told_at, a.pattern, a.message, c.step, c.tool, left(c.arguments, 200) as arguments, left(c.result, 200) as result
from newest as a
join calls as c on c.run_id = a.run_id and c.kind = 'tool' and c.ended_at <= a."at"
qualify row_number() over (partition by a.alert_id order by c.end_unix_nano desc, c.span_id desc) <= 3
order by told_at desc, a.alert_id, c.end_unix_nano
limit 100;
