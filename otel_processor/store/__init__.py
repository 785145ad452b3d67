"""The only code that opens DuckDB."""
