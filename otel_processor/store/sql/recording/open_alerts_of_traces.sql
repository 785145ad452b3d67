-- Open alerts that spans of these traces opened; an alert that was told ahead of its span is left out until that is stored.
select a.alert_id, a.run_id, a.pattern
from alerts as a
where a.resolved_at is null
    and a.trace_id in (select unnest(from_json($trace_ids::JSON, '["VARCHAR"]')))
    and exists (select 1 from spans as s where s.trace_id = a.trace_id and s.span_id = a.span_id);
