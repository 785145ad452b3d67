-- The policies that there are, stored or only named by a run: how many of the chosen runs were judged by each, and when one of them was
-- seen last; that used last first. `fields` is NULL where the policy is not stored.
with used as (
    select
        policy_hash,
        count(*) as runs,
        max(coalesce(last_seen_at, ended_at, started_at)) as last_used_at
    from chosen_runs
    group by policy_hash
),
stored as (
    select policy_hash, min(first_used_at) as first_used_at, left(any_value(fields::VARCHAR), $longest) as fields
    from policies
    group by policy_hash
)
select
    policy_hash,
    coalesce(u.runs, 0) as runs,
    u.last_used_at,
    s.first_used_at,
    s.fields
from used as u
full join stored as s using (policy_hash)
order by u.last_used_at desc nulls last, s.first_used_at desc nulls last, policy_hash
limit $limit;
