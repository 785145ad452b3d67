-- How many bytes the texts of these traces' spans have; the times let the row groups of other times be left out.
select
    trace_id,
    sum(strlen(attributes::VARCHAR) + coalesce(strlen(events::VARCHAR), 0) + coalesce(strlen(resource::VARCHAR), 0))::BIGINT
from spans
where end_unix_nano between $first and $last
    and trace_id in (select unnest(from_json($trace_ids::JSON, '["VARCHAR"]')))
group by trace_id;
