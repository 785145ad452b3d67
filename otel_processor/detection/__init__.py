"""Is this run going in circles? Pure: no OpenTelemetry, no input or output, no clock."""
