-- One row: when and by what a sealed copy was made, and what it holds. Only sealed copies have the table.
select sealed_at, made_by, without_content, what from sealed_copy limit 1;
