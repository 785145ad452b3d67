"""The adapters against the real frameworks, each with a fake model and no network."""
