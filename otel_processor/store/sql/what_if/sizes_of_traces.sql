-- How many spans of these traces are stored, and when the first and the last of them ended; no text is read for that.
select trace_id, count(*), min(end_unix_nano), max(end_unix_nano)
from spans
where trace_id in (select unnest(from_json($trace_ids::JSON, '["VARCHAR"]')))
group by trace_id;
