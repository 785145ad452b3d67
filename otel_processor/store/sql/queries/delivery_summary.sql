-- How messages about alerts stand at each sink; the one with most trouble first. `retrying` are those among `waiting` that failed.
select
    sink,
    count(*) filter (state in ('pending', 'sending')) as waiting,
    count(*) filter (state in ('pending', 'sending') and attempts > 0 and error is not null) as retrying,
    count(*) filter (state = 'sent') as sent,
    count(*) filter (state = 'suppressed') as suppressed,
    count(*) filter (state in ('held', 'summed')) as held_back,
    count(*) filter (state = 'gave_up') as gave_up,
    max(sent_at) as last_sent_at,
    min(due_at) filter (state = 'pending') as next_try_at,
    arg_max(error, tried_at) filter (error is not null) as last_error
from deliveries
group by sink
order by gave_up desc, retrying desc, sink
limit $limit;
