-- Which spans of a batch are stored already. A span delivered twice starts at the same instant both times, or nearly so
-- where a hop rounds its times; an hour on either side still lets the row groups of other times be left out.
select s.trace_id, s.span_id
from spans as s
semi join (
    select unnest(r.trace_id) as trace_id, unnest(r.span_id) as span_id
    from (select from_json($rows::JSON, '{"trace_id": ["VARCHAR"], "span_id": ["VARCHAR"]}') as r)
) as b on b.trace_id = s.trace_id and b.span_id = s.span_id
where s.start_unix_nano between $lowest - 3600000000000 and $highest::HUGEINT + 3600000000000;
