-- A summary was sent, and with it what was held back for it.
update deliveries set state = 'summed' where summary_id = $summary_id and state = 'held';
