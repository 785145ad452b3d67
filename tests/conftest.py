"""Settings that all tests share."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# How long an example takes says something of the machine and nothing of the code.
settings.register_profile("everywhere", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("everywhere")
