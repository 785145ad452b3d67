-- What altered calls were compared by before their content was cut.
select trace_id, span_id, signature, evidence
from call_rows
where evidence is not null and trace_id in (select unnest(from_json($trace_ids::JSON, '["VARCHAR"]')));
