"""From single spans to runs: which run a call belongs to, which spans tell the same call, what became of the run. Pure."""
