"""The parts of the page `overview`."""
