-- Who writes to the database and what became of what each was given, the one that wrote last first; in each row also how many there
-- are, how many spans all of them lost, and how many wrote within $recent_seconds.
select
    writer_id,
    host,
    pid,
    version,
    started_at,
    last_write_at,
    coalesce(last_write_at >= now() - to_seconds($recent_seconds), false) as is_recent,
    written,
    duplicates,
    cut,
    spooled,
    dropped,
    lock_waits,
    put_away,
    count(*) over () as writers,
    count(*) filter (last_write_at >= now() - to_seconds($recent_seconds)) over () as recent_writers,
    (sum(dropped) over ())::BIGINT as all_dropped,
    count(*) filter (dropped > 0) over () as writers_that_dropped
from writers
order by last_write_at desc nulls last, writer_id
limit $limit;
