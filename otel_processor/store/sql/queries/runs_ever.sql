-- One row: whether there is any run.
select exists (select 1 from run_rows limit 1) as any_run;
