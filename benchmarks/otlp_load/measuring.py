"""One measurement: so many senders for so long, and what the receiver did meanwhile."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from benchmarks.otlp_load.senders import FEW_SPANS, Sender, chains, finish, warm_up
from benchmarks.otlp_load.targets import Target
from benchmarks.otlp_load.watching import Watch

_FINISHING_SECONDS = 120.0
_STORING_SECONDS = 60.0


@dataclass(slots=True)
class Measured:
    """What came out; rates are spans a second from the first request to the last answer, or to when all could be asked for."""

    target: str
    version: str
    senders: int
    batch: int
    seconds: float
    acknowledged: int
    acknowledged_rate: float
    stored: int
    """Spans that its database could be asked for."""
    queryable_rate: float
    visible_after_seconds: float
    """From the last answer until all that was acknowledged could be asked for."""
    p50_ms: float
    p99_ms: float
    """Of requests, from the first try to the answer."""
    cpu_per_1000: float
    """CPU seconds of the receiver for 1,000 acknowledged spans."""
    cores: float
    """CPU seconds of the receiver a second: how much of the machine it got."""
    sender_cpu_per_1000: float
    refused: int
    failed: int
    most_mib: float
    mib_per_minute: float
    """Over the second half."""
    db_mib: float
    at_times: list[dict[str, float]] = field(default_factory=list)
    """Every so many seconds: spans acknowledged and queryable until then, MiB resident, the slowest request in between."""

    @property
    def lost(self) -> int:
        """Spans that were acknowledged and are not there."""
        return max(self.acknowledged - self.stored, 0)


def measure(
    target: Target, *, senders: int, batch: int, seconds: float, look_every: float = 5.0, spans_per_second: float = 0.0
) -> Measured:
    """Send to a target for so many seconds.

    Args:
        target: that is up, and takes nothing else.
        senders: how many send at once.
        batch: spans in a request.
        seconds: how long new requests are sent.
        look_every: seconds between two looks into its database; a look holds up who writes for a moment.
        spans_per_second: of all senders together; 0: as many as are taken.
    """
    every = senders * batch / spans_per_second if spans_per_second else 0.0
    made = [
        Sender(target.place, chain, every_seconds=every, first_after=every * number / senders)
        for number, chain in enumerate(chains(senders, batch))
    ]
    warm_up(target.place, senders)
    before = target.stored_at_last(senders * FEW_SPANS, seconds=_STORING_SECONDS)[0]
    at_times: list[dict[str, float]] = []
    with Watch(target.pid) as watch:
        begun = time.monotonic()
        for sender in made:
            sender.start()
        looked_at = begun
        while (left := begun + seconds - time.monotonic()) > 0:
            time.sleep(min(look_every, left))
            if left >= look_every:
                at_times.append(_look(target, made, watch, begun, looked_at, before))
                looked_at = time.monotonic()
        if not finish(made, _FINISHING_SECONDS):
            # Refused again and again: what was acknowledged until now counts.
            for sender in made:
                sender.give_up()
        acknowledged = sum(sender.told.acknowledged for sender in made)
        done = [one for sender in made for one in sender.told.done]
        last = max((when for when, _, _ in done), default=time.monotonic())
        cpu, cpu_took = watch.cpu_seconds, time.monotonic() - begun
        stored, visible = target.stored_at_last(before + acknowledged, seconds=_STORING_SECONDS)
    took = sorted(seconds for _, seconds, _ in done)
    thousands = max(acknowledged, 1) / 1_000
    stored -= before
    return Measured(
        target=target.name,
        version=target.version,
        senders=senders,
        batch=batch,
        seconds=last - begun,
        acknowledged=acknowledged,
        acknowledged_rate=acknowledged / (last - begun),
        stored=stored,
        queryable_rate=stored / (visible - begun),
        visible_after_seconds=visible - last,
        p50_ms=_share(took, 0.5) * 1e3,
        p99_ms=_share(took, 0.99) * 1e3,
        cpu_per_1000=cpu / thousands,
        cores=cpu / cpu_took,
        sender_cpu_per_1000=sum(sender.told.cpu_seconds for sender in made) / thousands,
        refused=sum(sender.told.refused for sender in made),
        failed=sum(sender.told.failed for sender in made),
        most_mib=watch.most_mib,
        mib_per_minute=watch.mib_per_minute(),
        db_mib=target.db.stat().st_size / (1 << 20) if target.db.exists() else 0.0,
        at_times=at_times,
    )


def _look(target: Target, made: list[Sender], watch: Watch, begun: float, since: float, before: int) -> dict[str, float]:
    # Asked first: what is counted after that was acknowledged at the latest when the answer came.
    stored = target.stored() - before
    slow = [seconds for sender in made for when, seconds, _ in list(sender.told.done) if when > since]
    return {
        "seconds": round(time.monotonic() - begun, 1),
        "acknowledged": sum(sender.told.acknowledged for sender in made),
        "queryable": stored,
        "mib": round(watch.memory[-1][1], 1) if watch.memory else 0.0,
        "slowest_ms": round(max(slow, default=0.0) * 1e3),
    }


def _share(ordered: list[float], share: float) -> float:
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0
