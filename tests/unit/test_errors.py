from __future__ import annotations

import pickle

from otel_processor.errors import LoopDetected
from otel_processor.model import Action, Pattern, StopReason, Verdict


def test_a_stop_says_its_reason_in_front_and_survives_a_process_pool() -> None:
    verdict = Verdict(
        pattern=Pattern.HARD_LOOP,
        action=Action.STOP,
        stop_reason=StopReason.REPEATED_SIGNATURE,
        severity="critical",
        message="three times the same",
        evidence={},
    )
    stop = pickle.loads(pickle.dumps(LoopDetected(verdict)))
    assert str(stop) == "loop_detected:repeated_tool_signature: three times the same"
    assert (stop.stop_reason, stop.verdict) == ("loop_detected:repeated_tool_signature", verdict)
