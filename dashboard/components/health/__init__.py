"""The parts of the page `health`."""
