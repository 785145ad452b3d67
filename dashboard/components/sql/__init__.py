"""The parts of the page of SQL."""
