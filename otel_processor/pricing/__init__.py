"""What a model call cost: as the span says, as the user says, or as a price list says; unknown stays unknown."""

from otel_processor.pricing.pricer import Cost, Pricer

__all__ = ["Cost", "Pricer"]
