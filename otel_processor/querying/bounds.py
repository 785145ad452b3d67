"""How much a query of the page may take of the machine that it runs on: somebody's laptop, on which agents run as well."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

_MEBIBYTE = 1 << 20
_MOST_MEMORY_BYTES = 1 << 30
_MOST_THREADS = 4
_BESIDE_THE_ENGINE_BYTES = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What one query may take, and how large its result may be."""

    limit_rows: int = 1_000
    """Rows that are kept."""

    timeout_seconds: float = 30.0
    """Until the query is stopped; writers wait while it runs."""

    max_bytes: int = 32 * _MEBIBYTE
    """Of all rows together; those beyond are left out like rows beyond the limit."""

    max_cell_chars: int = 1_000_000
    """Characters after which a text is cut."""


def memory_bytes() -> int:
    """Return the memory that the engine may use: 1 GiB, or half of a smaller machine's."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _MOST_MEMORY_BYTES
    return max(min(_MOST_MEMORY_BYTES, whole // 2), 128 * _MEBIBYTE)


def threads() -> int:
    """Return the threads that the engine may use: half of the machine's, four at the most."""
    return max(1, min(_MOST_THREADS, (os.cpu_count() or 2) // 2))


def settings() -> dict[str, str]:
    """Return these bounds as settings of DuckDB."""
    return {"memory_limit": f"{memory_bytes() // _MEBIBYTE}MiB", "threads": str(threads())}


def limit_this_process() -> None:
    """Let this process have no more memory than a query needs: the engine's own limit does not hold for long values.

    `select range(100_000_000)` takes 7 GB under a limit of 1 GB. Where the system knows no such limit (Windows), the engine's
    must do.
    """
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        most = memory_bytes() + _BESIDE_THE_ENGINE_BYTES
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
