-- How many rows each table has; their count stands in the file and takes no reading.
select 'spans' as name, count(*) as table_rows from spans
union all select 'call_rows', count(*) from call_rows
union all select 'run_rows', count(*) from run_rows
union all select 'run_totals', count(*) from run_totals
union all select 'trace_runs', count(*) from trace_runs
union all select 'alerts', count(*) from alerts
union all select 'deliveries', count(*) from deliveries
union all select 'policies', count(*) from policies
union all select 'writers', count(*) from writers;
