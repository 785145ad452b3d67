-- The next traces that are stored, by their ids.
select trace_id
from spans
where trace_id > $after
group by trace_id
order by trace_id
limit $at_most;
