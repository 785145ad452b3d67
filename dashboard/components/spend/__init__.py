"""The parts of the page `spend`."""
