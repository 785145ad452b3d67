"""The parts of the page `tools`."""
