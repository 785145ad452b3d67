"""The parts of the page `run`."""
