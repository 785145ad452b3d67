-- What there is to ask: every column of every relation, the views first and of those the runs, then the tables.
select
    c.table_name as relation,
    case when t.table_type = 'VIEW' then 'view' else 'table' end as kind,
    c.column_name as "column",
    c.data_type as type
from information_schema.columns as c
join information_schema.tables as t
    on t.table_catalog = c.table_catalog and t.table_schema = c.table_schema and t.table_name = c.table_name
where c.table_catalog = current_database() and c.table_schema = 'main'
order by
    t.table_type <> 'VIEW',
    coalesce(list_position(['runs', 'calls', 'alerts', 'spans'], c.table_name), 9),
    c.table_name,
    c.ordinal_position
limit $limit;
