"""Small parts of pages, each with one `show`."""
