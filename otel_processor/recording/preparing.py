"""A batch of spans, read and turned into columns before the database is opened."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import orjson

from otel_processor.alerts.plan import DeliveryPlan
from otel_processor.detection.evidence import make_call
from otel_processor.dialects import names, read_span
from otel_processor.model import NOTHING, Alert, Reading, ResultEvidence, Role, SpanRecord
from otel_processor.policy import Policy
from otel_processor.privacy.settings import Privacy
from otel_processor.recording.altering import redacted
from otel_processor.recording.bounds import json_text
from otel_processor.recording.reading_rows import REQUESTED, reading_of, with_signatures
from otel_processor.recording.span_rows import append_row, remove_last, span_of_row, spans_of_columns
from otel_processor.recording.withholding import OFF, may_hold_secrets, withhold, without_secrets
from otel_processor.runs.limits import without_cut_values
from otel_processor.runs.records import KeptEvidence, ReadSpan
from otel_processor.runs.telling import with_told
from otel_processor.store.columns import DELIVERIES, SPANS, Columns


@dataclass(slots=True)
class Batch:
    """Spans on their way into the store: what they say, and their rows, position by position."""

    reads: list[ReadSpan] = field(default_factory=list)
    columns: Columns = field(default_factory=SPANS.empty)
    cut: int = 0
    unusable: int = 0
    """Spans that no row could be made of."""
    alerts: list[Alert] = field(default_factory=list)
    """Told by the live path, ahead of their spans."""
    plans: dict[str, DeliveryPlan] = field(default_factory=dict)
    """Who is to be told of alerts of a trace, where another process decides that: it put the spans into the spool."""
    sent: Columns = field(default_factory=DELIVERIES.empty)
    """Messages that were sent while the database could not be reached."""

    def __len__(self) -> int:
        return len(self.reads)

    @property
    def is_empty(self) -> bool:
        """Whether there are neither spans, nor alerts, nor messages."""
        return not self.reads and not self.alerts and not any(self.sent.values())

    def pick(self, positions: Sequence[int]) -> Batch:
        """Return the part of the batch at these positions; alerts stay behind."""
        return Batch(
            [self.reads[i] for i in positions],
            {name: [values[i] for i in positions] for name, values in self.columns.items()},
            plans=self.plans,
        )

    def without(self, known: Set[tuple[str, str]]) -> Batch:
        """Return the spans that are not among the known ones, by (trace id, span id), each once; alerts stay behind."""
        seen = set(known)
        positions: list[int] = []
        for position, key in enumerate(zip(self.columns["trace_id"], self.columns["span_id"], strict=True)):
            if key not in seen:
                seen.add(key)
                positions.append(position)
        return self if len(positions) == len(self) else self.pick(positions)

    def extend(self, other: Batch) -> None:
        """Append another batch."""
        self.reads.extend(other.reads)
        for name, values in other.columns.items():
            self.columns[name].extend(values)
        self.cut += other.cut
        self.unusable += other.unusable
        self.alerts.extend(other.alerts)
        self.plans.update(other.plans)
        for name, values in other.sent.items():
            self.sent[name].extend(values)


def prepare(
    spans: Iterable[SpanRecord],
    policy: Policy,
    readings: Mapping[tuple[str, str], Reading] | None = None,
    privacy: Privacy = Privacy(),  # noqa: B008 - frozen
) -> Batch:
    """Read the spans and build their rows.

    Args:
        spans: as received.
        policy: of the writer, which decides how altered calls are signed.
        readings: what was read of some of them already, by (trace id, span id).
        privacy: what of them is stored.
    """
    batch = Batch()
    received_ns = time.time_ns()
    redactor = privacy.redactor
    for span in spans:
        try:
            if not privacy.keeps_content:
                _append_altered(batch, span, received_ns, policy, readings, privacy)
                continue
            blobs: list[bytes] = []
            cut = append_row(batch.columns, span, received_ns, blobs=blobs)
            if (cut or may_hold_secrets(batch.columns, redactor, blobs)) and not redactor.is_idle:
                remove_last(batch.columns)
                if _append_altered(batch, span, received_ns, policy, readings, privacy):
                    continue
                append_row(batch.columns, span, received_ns)
            if cut:
                span = _with_told(batch, span)  # noqa: PLW2901 - the same span, which says in short what was cut off
        except Exception:  # noqa: BLE001 - a malformed span never stops the others
            batch.unusable += 1
            continue
        batch.cut += cut
        try:
            reading = (readings.get((span.trace_id, span.span_id)) if readings else None) or read_without_tags(span)
            read = read_with_limits(span, reading, policy, altered=cut > 0)
            if read.kept is not None:
                read = _as_stored(batch, read, policy)
        except Exception:  # noqa: BLE001 - what it says is lost on us, the span is not
            read = ReadSpan(span, NOTHING)
        batch.reads.append(read)
    return batch


def _append_altered(
    batch: Batch,
    span: SpanRecord,
    received_ns: int,
    policy: Policy,
    readings: Mapping[tuple[str, str], Reading] | None,
    privacy: Privacy,
) -> bool:
    """Append a span as it may be stored, and as it will be read again; False where nothing of it has to be altered.

    Raises:
        Exception: it is malformed; nothing was appended then.
    """
    size = len(batch.reads)
    try:
        reading = (readings.get((span.trace_id, span.span_id)) if readings else None) or read_without_tags(span)
        read = read_with_limits(span, reading, policy, altered=True)
    except Exception:  # noqa: BLE001 - what it says is lost on us, and what it holds is not stored for that
        reading, read = NOTHING, ReadSpan(span, NOTHING)
    if privacy.keeps_content:
        altered = without_secrets(read, reading, policy, privacy.redactor)
        if altered is None:
            return False
    else:
        altered = withhold(read, reading, policy, privacy.redactor)
    try:
        cut = append_row(batch.columns, altered.span, received_ns, altered.notes)
        if altered.content == OFF and may_hold_secrets(batch.columns, privacy.redactor):
            # Names are kept, and looked at like everything else.
            names = redacted(altered.span, privacy.redactor)
            if names is not None:
                remove_last(batch.columns)
                cut = append_row(batch.columns, names[0], received_ns, names[1])
        batch.cut += cut
        batch.columns["content"][-1] = altered.content
        stored = span_of_row({name: values[-1] for name, values in batch.columns.items()})
        try:
            read = read_with_limits(stored, read_without_tags(stored), policy, altered=True, kept=altered.kept)
        except Exception:  # noqa: BLE001 - see above
            read = ReadSpan(stored, NOTHING)
        batch.reads.append(replace(read, content=altered.content))
    except BaseException:
        for values in batch.columns.values():
            del values[size:]
        raise
    return True


def _as_stored(batch: Batch, read: ReadSpan, policy: Policy) -> ReadSpan:
    """Return the span that was added last with the content that is left of it: so it will be read again."""
    stored = read_without_tags(span_of_row({name: values[-1] for name, values in batch.columns.items()}))
    reading = replace(read.reading, arguments=stored.arguments, result=stored.result)
    return read_with_limits(read.span, reading, policy, altered=True, kept=read.kept)


def _with_told(batch: Batch, span: SpanRecord) -> SpanRecord:
    """Keep what a span tells of other calls beside its row, of which parts were cut; used as it will be read again."""
    telling = with_told(span)
    if telling is span:
        return span
    extra = json_text({**telling.extra, "parent_is_remote": True} if span.parent_is_remote else telling.extra)
    batch.columns["extra"][-1] = extra
    return replace(span, extra=orjson.loads(extra))


def read_without_tags(span: SpanRecord) -> Reading:
    """Read the span; the run that our processor wrote on it was its best guess then, unless the user had declared it."""
    withheld = reading_of(span)
    if withheld is not None:
        return withheld
    reading = with_signatures(span, read_span(span)) if REQUESTED in span.extra else read_span(span)
    attributes = span.attributes
    if reading.run_id is not None and names.LOOP_STEP in attributes and not attributes.get(names.LOOP_RUN_DECLARED):
        return replace(reading, run_id=None)
    return reading


def read_with_limits(
    span: SpanRecord, reading: Reading, policy: Policy, *, altered: bool, kept: KeptEvidence | None = None
) -> ReadSpan:
    """Return the span as the ledger takes it: values that the SDK cut count as unknown, and what we cut is compared first."""
    limit = span.extra.get(names.VALUE_LIMIT)
    was_cut = False
    if isinstance(limit, int) and reading.role is Role.TOOL:
        reading, was_cut = without_cut_values(reading, span.attributes, limit)
    if kept is not None and reading.role is Role.TOOL:
        # What was unknown before we cut it stays unknown.
        was_cut = was_cut or kept.evidence is None
        if kept.signature is None and reading.arguments is not None:
            reading = replace(reading, arguments=None)
    if altered and kept is None and reading.role is Role.TOOL:
        call = make_call(
            reading,
            trace_id=span.trace_id,
            span_id=span.span_id,
            agent="",
            start_ns=span.start_ns,
            end_ns=span.end_ns,
            policy=policy.for_task_type(reading.task_type),
            result_was_cut=was_cut,
        )
        kept = KeptEvidence(call.signature, call.evidence)
    return ReadSpan(span, reading, kept=kept, result_was_cut=was_cut)


def batch_of_columns(columns: Columns, policy: Policy, kept: Mapping[tuple[str, str], KeptEvidence] | None = None) -> Batch:
    """Return the batch that stored or spooled columns hold."""
    batch = Batch(columns=columns)
    cuts, contents = columns["cut"], columns["content"]
    for position, span in enumerate(spans_of_columns(columns)):
        evidence = kept.get((span.trace_id, span.span_id)) if kept else None
        content = contents[position]
        altered = cuts[position] is not None or content is not None
        read = read_with_limits(span, read_without_tags(span), policy, altered=altered, kept=evidence)
        batch.reads.append(replace(read, content=content) if content is not None else read)
    return batch


def evidence_text(evidence: ResultEvidence | None) -> str:
    """Return evidence as the JSON text in which it is stored."""
    if evidence is None:
        return "{}"
    return orjson.dumps(
        {
            "raw_hash": evidence.raw_hash,
            "fingerprint": evidence.fingerprint,
            "sketch": sorted(evidence.sketch),
            "length": evidence.length,
        }
    ).decode()


def kept_evidence(signature: str | None, text: str) -> KeptEvidence:
    """Return what was stored of an altered call."""
    values = orjson.loads(text)
    if not values:
        return KeptEvidence(signature, None)
    evidence = ResultEvidence(values["raw_hash"], values["fingerprint"], frozenset(values["sketch"]), values["length"])
    return KeptEvidence(signature, evidence)
