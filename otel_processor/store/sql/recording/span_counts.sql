-- How many spans of these traces are stored: more than a writer remembers means that another one wrote to the same trace.
select trace_id, count(*)
from spans
where trace_id in (select unnest(from_json($trace_ids::JSON, '["VARCHAR"]')))
group by trace_id;
