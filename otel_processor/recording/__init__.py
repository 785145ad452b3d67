"""Spans into the store, with everything that is decided about them: the write path that every door shares."""
