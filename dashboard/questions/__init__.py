"""What the pages ask of the store: a module for each page, a function for each query."""
