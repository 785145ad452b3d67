"""A user's own SQL: sandboxed, bounded in rows, time and memory, and what came of it as CSV, JSON or Parquet."""
