-- Let these messages wait.
update deliveries
set due_at = make_timestamptz($due_us), claimed_by = null, lease_until = null
where delivery_id in (select unnest(from_json($ids::JSON, '["VARCHAR"]')));
