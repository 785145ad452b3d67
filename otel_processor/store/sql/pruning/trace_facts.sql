-- How many spans of these traces are stored, when the last of them ended, and when the last of them arrived.
select trace_id, count(*), max(end_unix_nano) // 1000, epoch_us(max(received_at))
from spans
where trace_id in (select unnest(from_json($trace_ids::JSON, '["VARCHAR"]')))
group by trace_id;
