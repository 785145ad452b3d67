-- When spans of these traces last arrived, as far as that is not long ago.
select trace_id, epoch_us(max(received_at))
from spans
where received_at >= make_timestamptz($since_us) and trace_id in (select unnest(from_json($trace_ids::JSON, '["VARCHAR"]')))
group by trace_id;
