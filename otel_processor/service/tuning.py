"""What the process of a service does otherwise than Python by itself; only whoever owns the process may say so."""

from __future__ import annotations

import contextlib
import ctypes
import gc
from typing import Final

_YOUNG: Final = 200_000
"""Objects between two looks for garbage: a batch makes hundreds of thousands that live until it is stored and no longer."""

_M_MMAP_THRESHOLD: Final = -3
"""The number of that setting in glibc's `malloc.h`."""

_LARGE_BYTES: Final = 1 << 20


def tune() -> None:
    """Look for garbage less often, and never among what is there from the start: an eighth less time per span together."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, 50, 100)
    _give_back_large_blocks()


def _give_back_large_blocks() -> None:
    """Return the memory of large bodies to the system with their end.

    Otherwise glibc keeps blocks of up to 32 MiB in each thread's heap once one of that size was freed, and a service that was
    sent a few large bodies stays larger by hundreds of MiB. Where there is another C library nothing is done.
    """
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
