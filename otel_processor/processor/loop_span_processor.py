"""LoopSpanProcessor: SDK hooks in, tags and alerts out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from opentelemetry import baggage
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.trace import StatusCode

from otel_processor.alerts.receivers import announce, over
from otel_processor.detection.bounded import RecentMap
from otel_processor.detection.evidence import make_call
from otel_processor.detection.fingerprint import examine, raw_hash
from otel_processor.dialects import names
from otel_processor.dialects.stops import stop_by_failure
from otel_processor.guard.answer import Answer, error_for
from otel_processor.model import NOTHING, Alert, Call, CallOutcome, Mode, Reading, ResultEvidence, Role
from otel_processor.policy import Policy
from otel_processor.policy_file import policy_of
from otel_processor.pricing import Pricer
from otel_processor.privacy.alerts import for_log
from otel_processor.processor.border import never_raise
from otel_processor.processor.cancelled import record_cancellation
from otel_processor.processor.ending import guard_reason
from otel_processor.processor.live_runs import LiveRun, LiveRuns
from otel_processor.processor.open_spans import EndedCall, OpenSpan, surroundings_of
from otel_processor.processor.recalling import Earlier
from otel_processor.processor.refusing import end_refused
from otel_processor.processor.sdk_span import SDK_CALLS_ON_ENDING, SpanView, value_length_limit, write_event, write_tags
from otel_processor.processor.tagging import alert_attributes, tags_of, with_inherited
from otel_processor.runs.attempts import tries_of
from otel_processor.runs.ending import Seen
from otel_processor.runs.limits import without_cut_values
from otel_processor.settings import mode_of

if TYPE_CHECKING:
    from opentelemetry.context import Context

_DECLARED_IN_BAGGAGE = (names.LOOP_RUN_ID, names.LOOP_TASK, names.LOOP_TASK_TYPE)
_FAILED = frozenset({names.ERROR_TYPE, names.LANGFUSE_STATUS_MESSAGE})
"""Attributes by which a span may say that it failed, or waits for somebody, whatever its status."""
_SHORT_CHARS = 256
_EXAMINED = 256


class LoopSpanProcessor(SpanProcessor):
    """Recognises an agent's tool calls and model calls, tags their spans, and tells when a run goes in circles.

    The tags (`loop.*`) are written while the span ends, so that every exporter of the process sees them, whatever the
    order in which processors were added. Nothing it does raises into the host, but for one thing that has to be asked for:

    In the mode `enforce` the start of a tool's span raises where the call is held against the run: `LoopNudge` first, whose
    text is for the model, then `LoopDetected`; the tool does not run. It takes a writer that gives the span its attributes
    when it starts. Most frameworks hand a tool's exception to the model as its result, and the run goes on with that; one
    that lets it through ends the run. The span of such a call ends at once, with the status ERROR and an event
    `loop.refused`, so that it is exported and counted as a call that failed.

    In the mode `nudge` nothing is raised, since an exception can end a run: `current_guard()` answers whoever asks.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        on_alert: Callable[[Alert], None] | None = None,
        on_reading: Callable[[str, str, Reading], None] | None = None,
        mode: Mode | str | None = None,
        earlier: Earlier | None = None,
    ) -> None:
        """Set up the processor.

        Args:
            policy: the thresholds; those of `$OTEL_PROCESSOR_POLICY`, or the defaults, when left out.
            on_alert: called at once with each alert, on the thread of the span that caused it; must not block.
            on_reading: called with (trace id, span id, reading) of spans that say something, so that an exporter in the
                same process need not read them again.
            mode: `observe`, `nudge` or `enforce`; that of `$OTEL_PROCESSOR_MODE`, or `observe`, when left out.
            earlier: knows how runs stood that this process goes on with; without it they begin anew in the tags.

        Raises:
            ConfigError: a setting cannot be used.
        """
        self._policy = policy_of(policy)
        self._mode = mode_of(mode)
        self._live = LiveRuns(self._policy, self._mode, self._tell, earlier)
        self._on_alert = on_alert
        self._on_reading = on_reading
        self._closed = False
        self._examined: RecentMap[str, ResultEvidence] = RecentMap(_EXAMINED)
        self._pricer = _pricer_of(self._policy)

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Remember the span, and write on it what the user declared in baggage.

        Raises:
            LoopDetected: only in the mode `enforce`: the span is a tool call that is held against the run.
        """
        self._begin(span, parent_context)
        if self._mode is Mode.ENFORCE:
            answer = self._refusal(span)
            if answer is not None:
                self._end_refused(span, answer)
                raise error_for(answer)

    @never_raise
    def _begin(self, span: Span, parent_context: Context | None) -> None:
        if self._closed:
            return
        declared = baggage.get_all(parent_context)
        if declared:
            for key in _DECLARED_IN_BAGGAGE:
                value = declared.get(key)
                if isinstance(value, str) and value:
                    span.set_attribute(key, value)
        self._live.begin(span, declared=names.LOOP_RUN_ID in declared)

    @never_raise
    def _refusal(self, span: Span) -> Answer | None:
        """Return what is held against the tool call that a span starts with, as far as the span says it by now."""
        known = None if self._closed else self._live.open_span(span.context.span_id)
        if known is None:
            return None
        reading = known.read()
        if reading.role is not Role.TOOL:
            return None
        around = surroundings_of(known)
        now = span.start_time or 0
        trace_id = f"{span.context.trace_id:032x}"
        with self._live.lock:
            run = self._live.run_of(known, around, trace_id)
        call = make_call(
            reading,
            trace_id=trace_id,
            span_id=f"{span.context.span_id:016x}",
            agent=around.agent,
            start_ns=now,
            end_ns=now,
            policy=run.tracker.state.policy,
        )
        for alert in self._live.recollect(run, around.outermost):
            self._tell(alert)
        with self._live.lock:
            answer = self._live.guard(run, around.task).answer(call, reading.call_id or call.span_id)
        if answer.allows_call:
            return None
        known.refused = (call, answer)
        return answer

    @never_raise
    def _end_refused(self, span: Span, answer: Answer) -> None:
        """End the span of a call that is not made: nobody else will, and every exporter is to see it."""
        end_refused(span, answer)

    def _on_ending(self, span: Span) -> None:
        self._finish(span)

    def on_end(self, span: ReadableSpan) -> None:
        """Finish the span where the SDK does not announce its end."""
        if not SDK_CALLS_ON_ENDING:
            self._finish(span)

    def shutdown(self) -> None:
        """Stop watching; nothing waits here."""
        self._closed = True

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the interface's parameter
        """Nothing waits here."""
        return True

    @never_raise
    def _finish(self, span: Any) -> None:
        if self._closed:
            return
        known = self._live.end(span)
        reading = known.read_at_end()
        if not reading.role.is_call and self._say_at_the_end(known, span, reading):
            reading = known.read_at_end()
        if reading.role.is_call:
            self._finish_call(known, span, reading)
        elif reading.role is Role.OTHER:
            self._finish_refused(known)
            self._finish_plain(known, span)
        else:
            self._hand_on(span, reading)
        tells_end = not reading.role.is_call and (not known.has_parent or reading is not NOTHING)
        # What failed or was cancelled further down may be where the run ended.
        may_have_failed = span.events or span.status.status_code is StatusCode.ERROR or not _FAILED.isdisjoint(known.attributes)
        if tells_end or may_have_failed:
            self._note_end(known, span, reading)
        if not known.has_parent:
            self._finish_root(known, span)

    def _finish_plain(self, known: OpenSpan, span: ReadableSpan) -> None:
        """Hand what lies inside a span that is neither call nor agent to the span above it."""
        if known.parent is None:
            return
        own = tries_of(SpanView(span))
        if known.inside or known.tries is not None or own is not None:
            with self._live.lock:
                self._live.lies_inside(known.parent, known.inside or ())
                self._live.tried_inside(known, own)

    def _finish_call(self, known: OpenSpan, span: ReadableSpan, reading: Reading) -> None:
        around = surroundings_of(known)
        reading = with_inherited(span, reading, around)
        trace_id, span_id = self._hand_on(span, reading)
        limit = value_length_limit(span)
        was_cut = False
        if limit is not None:
            reading, was_cut = without_cut_values(reading, known.attributes, limit)
        start_ns, end_ns = span.start_time or 0, span.end_time or 0
        self._live.look_back(known)
        ended = EndedCall(reading.role, reading.tool, reading.call_id, start_ns, end_ns)
        with self._live.lock:
            run = self._live.run_of(known, around, trace_id)
            if self._live.is_told_again(known, ended, run):
                return
            if reading.role is Role.MODEL:
                run.requests.remember(reading)
            request = run.requests.claim(reading)
        call = make_call(
            reading,
            trace_id=trace_id,
            span_id=span_id,
            agent=around.agent,
            start_ns=start_ns,
            end_ns=end_ns,
            policy=run.tracker.state.policy,
            arguments=request.arguments if request is not None else None,
            result_was_cut=was_cut,
            examined=self._examine,
        )
        call = self._with_what_lies_below(known, call)
        for alert in self._live.recollect(run, around.outermost):
            self._tell(alert)
        with self._live.lock:
            if run.recall is not None:
                run.recall.note(call, around.task)
            run.last_ns = max(run.last_ns, end_ns)
            run.ending.add(Seen(reading, start_ns, (end_ns, span_id), not known.has_parent, failed=False))
            outcome, alerts = self._observe(known, run, call, around.task)
            self._live.weigh(run)
        if reading.role is Role.TOOL:
            tags = tags_of(run.tracker.run_id, call, outcome)
            if around.declared_run_id is not None:
                tags[names.LOOP_RUN_DECLARED] = True
            write_tags(span, tags)
        for alert in alerts:
            write_event(span, names.LOOP_ALERT_EVENT, alert_attributes(alert), end_ns)
            self._tell(alert)

    def _with_what_lies_below(self, known: OpenSpan, call: Call) -> Call:
        """Return a tool call with the attempts made inside it, a model call with its price where that matters."""
        if known.tries is not None:
            return known.tries.of(call)
        if self._pricer is not None and call.kind is Role.MODEL:
            return call._replace(cost_usd=self._pricer.dollars(call.reading, call.start_ns))
        return call

    def _finish_refused(self, known: OpenSpan) -> None:
        """Count a call that was refused inside a span of which nobody said that it is a tool's."""
        if known.refused is None:
            return
        around = surroundings_of(known)
        with self._live.lock:
            run = self._live.run_of(known, around, f"{known.span.context.trace_id:032x}")
            alerts = self._live.guard(run, around.task).refused(*known.refused)
        for alert in alerts:
            self._tell(alert)

    def _observe(self, known: OpenSpan, run: LiveRun, call: Call, task: str | None) -> tuple[CallOutcome, tuple[Alert, ...]]:
        guarded = run.guarded if self._mode is Mode.OBSERVE else self._live.guard(run, task)
        held = guarded.held_against(call) if guarded is not None and known.refused is None else None
        outcome, alerts, ended = run.tracker.observe(call, task=task)
        if ended:
            over(run.tracker.run_id, [alert.verdict.pattern for alert in ended])
        if guarded is None:
            return outcome, alerts
        if known.refused is not None:
            return outcome, alerts + guarded.refused(*known.refused, outcome=outcome)
        return outcome, alerts + guarded.took(call, outcome, held)

    @never_raise
    def _tell(self, alert: Alert) -> None:
        announce(alert, cleaned=for_log)
        if self._on_alert is not None:
            self._on_alert(alert)

    def _hand_on(self, span: ReadableSpan, reading: Reading) -> tuple[str, str]:
        """Offer the reading to the exporter; return the span's trace id and span id in hex."""
        context = span.context
        trace_id, span_id = f"{context.trace_id:032x}", f"{context.span_id:016x}"
        if self._on_reading is not None:
            self._on_reading(trace_id, span_id, reading)
        return trace_id, span_id

    def _say_at_the_end(self, known: OpenSpan, span: ReadableSpan, reading: Reading) -> bool:
        """Write on an agent or a root what it does not say by itself about its end; return whether that was anything."""
        said = record_cancellation(span, known.handled)
        if known.has_parent or names.LOOP_STOP_REASON_DECLARED in known.attributes:
            return said
        with self._live.lock:
            run = self._live.existing_run(reading.run_id or f"{span.context.trace_id:032x}")
        reason = guard_reason(run, span) if run is not None else None
        return said if reason is None else write_tags(span, {names.LOOP_STOP_REASON_DECLARED: str(reason)}) or said

    def _note_end(self, known: OpenSpan, span: ReadableSpan, reading: Reading) -> None:
        """Take in what a root, an agent, a declaration or a failure says about the end of a run."""
        run_id = surroundings_of(known).declared_run_id or f"{span.context.trace_id:032x}"
        view = SpanView(span)
        end = (span.end_time or 0, f"{span.context.span_id:016x}")
        seen = Seen(reading, span.start_time or 0, end, not known.has_parent, view.status == "ERROR", stop_by_failure(view))
        with self._live.lock:
            run = self._live.existing_run(run_id)
            if run is not None:
                run.ending.add(seen)

    def _finish_root(self, known: OpenSpan, span: ReadableSpan) -> None:
        """The trace is over in this process: say on its root how the run ended, and let the run go.

        A run that the user declared may go on in another trace.
        """
        with self._live.lock:
            reading = known.read()
            run = self._live.existing_run(reading.run_id or f"{span.context.trace_id:032x}")
            if run is None or reading.role.is_call:
                return
            over(run.tracker.run_id, run.tracker.open_alerts)
            if reading.run_id:
                run.tracker.finish(span.end_time or 0)
            else:
                self._live.forget_run(run.tracker.run_id)
        tags: dict[str, Any] = {names.LOOP_STOP_REASON: str(run.ending.reason())}
        task = surroundings_of(known).task
        if task is not None:
            tags[names.LOOP_TASK] = task
        write_tags(span, tags)

    def _examine(self, text: str) -> ResultEvidence:
        """Look closely only at a result that was not looked at before: an agent that loops gets the same one again."""
        if len(text) < _SHORT_CHARS:
            return examine(text)
        raw = raw_hash(text)
        with self._live.lock:
            evidence = self._examined.get(raw)
        if evidence is None:
            evidence = examine(text, raw=raw)
            with self._live.lock:
                self._examined.put(raw, evidence)
        return evidence


def _pricer_of(policy: Policy) -> Pricer | None:
    """Return what prices model calls where a run may spend only so much, else None: loading a price list takes a while."""
    policies = (policy, *map(policy.for_task_type, policy.task_types))
    if all(each.max_cost_usd is None for each in policies):
        return None
    pricer = Pricer(policy)
    pricer.get_ready()
    return pricer
