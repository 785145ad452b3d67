"""What of a span is stored: secrets are taken out, and where asked nothing is kept that people or models said. Pure."""
