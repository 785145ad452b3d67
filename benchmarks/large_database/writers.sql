-- Those who wrote, one of them a minute ago.
insert into writers by name
select
    md5('writer' || range) as writer_id,
    'host-' || range % 3 as host,
    (1000 + range)::INTEGER as pid,
    '0.1.0' as version,
    now() - to_days($days::INTEGER) as started_at,
    now() - to_seconds(60.0 * (1 + range * range * 500)) as last_write_at,
    $spans::BIGINT // 6 as written,
    12 * range as duplicates,
    3 as cut,
    range * 100 as spooled,
    0 as dropped,
    range * 7 as lock_waits,
    0 as put_away
from range(6);
