"""A small agent with a fake model: it works, it loops, it recovers. What `otel-processor demo` plays."""
