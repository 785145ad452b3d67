"""Messages about alerts on their way to webhooks and chat services: each is a row, claimed before it is sent (ADR 0006)."""
