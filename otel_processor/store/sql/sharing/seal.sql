-- Only copies to be shared have this table; whoever writes to a database looks for it and leaves such a one alone.
create table sealed_copy as
select now() as sealed_at, $made_by as made_by, $without_content as without_content, $what as what
