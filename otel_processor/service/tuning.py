"""What the process of a service does otherwise than Python by itself; only whoever owns the process may say so."""

from __future__ import annotations

import gc
import sys
from typing import Final

_YOUNG: Final = 200_000
"""Objects between two looks for garbage: a batch makes hundreds of thousands that live until it is stored and no longer."""

_SWITCH_SECONDS: Final = 0.02
"""So long a thread goes on before another takes over: what is written is not interrupted two hundred times a second."""


def tune() -> None:
    """Look for garbage less often, and never among what is there from the start: an eighth less time per span together."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, 50, 100)
    sys.setswitchinterval(_SWITCH_SECONDS)
