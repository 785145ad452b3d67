"""The guard: asked before a tool call, told what became of it, it nudges and stops runs that go in circles."""

from otel_processor.guard.answer import Answer
from otel_processor.guard.loop_guard import LoopGuard
from otel_processor.guard.report import Attempt, Report

__all__ = ["Answer", "Attempt", "LoopGuard", "Report"]
