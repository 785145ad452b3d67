"""Runs a module like `python -m`, and ends with the process that started it, however that ends.

Standard input is a pipe that the starter holds open and never writes to: the system closes it also after a `kill -9`.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading

_GRACE_SECONDS = 5.0


def _end_with_starter() -> None:
    while os.read(0, 4_096):
        pass
    # In order first; whatever still holds it up then does not.
    threading.Timer(_GRACE_SECONDS, os._exit, (1,)).start()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_end_with_starter, name="end-with-starter", daemon=True).start()
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
