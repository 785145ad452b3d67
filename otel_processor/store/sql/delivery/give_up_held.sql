-- What was held back for a summary that could not be sent is not told.
update deliveries
set state = 'gave_up'
where state = 'held'
    and summary_id in (select s.delivery_id from deliveries as s where s.kind = 'summary' and s.state = 'gave_up');
