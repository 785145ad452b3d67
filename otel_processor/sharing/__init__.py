"""Copies of a database to give away: sealed, of some of the runs or all, with content or without."""
