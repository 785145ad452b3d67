-- The calls of one run, for the length of a connection: rows of `calls` that are found by the run's traces, without joining all the others.
create or replace temp view calls_of_run as
select *
from calls
where trace_id in (
        select trace_id from trace_runs where run_id = getvariable('run_id')
        union
        select trace_id from call_rows where declared_run_id = getvariable('run_id')
        union
        -- A trace that is of no run is one of its own.
        select getvariable('run_id')
    )
    and run_id = getvariable('run_id');
