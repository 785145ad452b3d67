"""Adapters of a few lines each from agent frameworks to the guard; each framework is imported in its own module only."""
