-- Policies that no run was judged by any more.
delete from policies
where policy_hash not in (select policy_hash from run_rows);
