"""Frames in, Plotly figures out: nothing is read, nothing is shown."""
