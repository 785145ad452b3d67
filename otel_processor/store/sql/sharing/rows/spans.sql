-- The spans of the chosen traces: whole, so that a trace can be looked at.
select *
from source.spans
where getvariable('everything') or trace_id in (from chosen_traces)
