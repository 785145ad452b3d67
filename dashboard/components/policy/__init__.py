"""The parts of the page `policy`."""
