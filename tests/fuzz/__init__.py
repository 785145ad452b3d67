"""Spoilt requests for both doors of the service: what is sent, and what the answer may be."""
