-- One row: whether there is any run, or any alert: a guard that stands alone tells alerts of runs that have no row.
select exists (select 1 from run_rows limit 1) or exists (select 1 from alerts limit 1) as any_run;
