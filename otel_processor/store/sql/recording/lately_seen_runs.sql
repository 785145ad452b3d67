-- Runs that were seen lately, the latest first, and the conversation that each is a stretch of.
select
    r.run_id, r.service, epoch_us(r.started_at) * 1000, epoch_us(r.last_seen_at) * 1000,
    case when r.run_id in (select run_id from trace_runs where decided_by = 'conversation') then r.conversation_id end
from run_rows as r
where r.last_seen_at >= make_timestamptz($since_us)
order by r.last_seen_at desc
limit $at_most;
