"""The pages: they read the store, draw, and decide nothing."""
