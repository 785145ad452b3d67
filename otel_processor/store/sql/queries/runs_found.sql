-- One row: how many of the chosen runs a search leaves.
select count(*) as runs from found_runs;
