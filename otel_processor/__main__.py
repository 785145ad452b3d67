"""`python -m otel_processor`: the command line without its script."""

from otel_processor.cli import main

if __name__ == "__main__":
    main()
