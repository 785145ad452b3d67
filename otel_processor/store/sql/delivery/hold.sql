-- Hold these messages back for a summary.
update deliveries
set state = 'held', summary_id = $summary_id, claimed_by = null, lease_until = null
where delivery_id in (select unnest(from_json($ids::JSON, '["VARCHAR"]')));
