"""The parts of the page `now`."""
