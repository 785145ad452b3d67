"""What takes many transactions leaves the file to others in between."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from otel_processor.store.opening import LONGEST_PAUSE_SECONDS

_SHARE: Final = 5


@contextmanager
def leaving_turns(*, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep) -> Iterator[None]:
    """Pause after the work inside, for a fifth of the time that it took, so that who waits for the file gets it.

    No longer than who waits does between two tries; not at all where the work raises.

    Args:
        clock: gives seconds that only grow.
        sleep: pauses for some seconds.
    """
    began = clock()
    yield
    sleep(min((clock() - began) / _SHARE, LONGEST_PAUSE_SECONDS))
