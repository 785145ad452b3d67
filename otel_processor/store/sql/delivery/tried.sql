-- How many messages each sink got within a time, and when the first of them was. What was tried later than now, a wrong clock says.
select sink, count(*), epoch_us(min(tried_at))
from deliveries
where tried_at > make_timestamptz($since_us) and tried_at <= make_timestamptz($now_us)
    and sink in (select unnest(from_json($sinks::JSON, '["VARCHAR"]')))
group by sink;
