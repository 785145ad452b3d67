"""Plain functions under guard."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ParamSpec, TypeVar, overload

from otel_processor.bug_reports import report_bug
from otel_processor.guard.answer import Answer, error_for
from otel_processor.model import Action, Mode

P = ParamSpec("P")
T = TypeVar("T")
OnNudge = Callable[[Answer], Any]


class GuardedTools:
    """The part of a guard that runs tools itself: it asks, runs, and says what came back."""

    mode: Mode

    @overload
    def tool(self, function: Callable[P, T]) -> Callable[P, T]: ...

    @overload
    def tool(
        self, function: None = None, *, name: str | None = None, on_nudge: OnNudge | None = None
    ) -> Callable[[Callable[P, T]], Callable[P, T]]: ...

    def tool(self, function: Any = None, *, name: str | None = None, on_nudge: OnNudge | None = None) -> Any:
        """Put a function, plain or async, under guard: `@guard.tool`, or `@guard.tool(on_nudge=…)`.

        Args:
            function: the tool.
            name: of the tool; the function's when left out.
            on_nudge: given the answer, returns what the function returns in place of being run, for example
                `lambda answer: answer.message`. Without it a nudge raises `LoopNudge` in the mode `enforce`, and lets the
                function run in the mode `nudge`: a function that returns a text its caller does not expect does harm.

        Raises:
            LoopNudge: from the function, in the mode `enforce`: this call is refused; the text is for the model.
            LoopDetected: from the function, in the mode `enforce`: the run is stopped.
        """
        if function is None:
            return lambda given: self.tool(given, name=name, on_nudge=on_nudge) if name or on_nudge else self.tool(given)
        called: str = name if name is not None else str(getattr(function, "__name__", "tool"))
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def guarded_async(*args: Any, **kwargs: Any) -> Any:
                arguments = _arguments_of(function, args, kwargs)
                return await self._arun(called, arguments, lambda: function(*args, **kwargs), on_nudge)

            return guarded_async

        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            return self._run_guarded(called, _arguments_of(function, args, kwargs), lambda: function(*args, **kwargs), on_nudge)

        return guarded

    def run_tool(self, name: str, arguments: Any, function: Callable[..., T], *, on_nudge: OnNudge | None = None) -> T:
        """Ask, call the function with the arguments, say what came back, and return it.

        Args:
            name: of the tool.
            arguments: given to the function by name where they are a mapping, else as its one argument.
            function: the tool.
            on_nudge: as in `tool`.

        Raises:
            LoopNudge: in the mode `enforce`: this call is refused; the text is for the model.
            LoopDetected: in the mode `enforce`: the run is stopped.
        """
        result: T = self._run_guarded(name, arguments, lambda: _call(function, arguments), on_nudge)
        return result

    async def arun_tool(
        self, name: str, arguments: Any, function: Callable[..., Awaitable[T]], *, on_nudge: OnNudge | None = None
    ) -> T:
        """Do what `run_tool` does with an async function."""
        result: T = await self._arun(name, arguments, lambda: _call(function, arguments), on_nudge)
        return result

    def _run_guarded(self, name: str, arguments: Any, run: Callable[[], Any], on_nudge: OnNudge | None) -> Any:
        answer = self.before_tool(name, arguments)
        if self._refuses(answer, on_nudge):
            return on_nudge(answer) if on_nudge is not None else None
        try:
            result = run()
        except Exception as error:
            self.after_tool(error=error, call=answer)
            raise
        except BaseException:
            # Cancelled: nobody knows what would have come back.
            self.after_tool(call=answer)
            raise
        self.after_tool(*_recorded(result), call=answer)
        return result

    async def _arun(self, name: str, arguments: Any, run: Callable[[], Awaitable[Any]], on_nudge: OnNudge | None) -> Any:
        answer = self.before_tool(name, arguments)
        if self._refuses(answer, on_nudge):
            return on_nudge(answer) if on_nudge is not None else None
        try:
            result = await run()
        except Exception as error:
            self.after_tool(error=error, call=answer)
            raise
        except BaseException:
            # Cancelled: nobody knows what would have come back.
            self.after_tool(call=answer)
            raise
        self.after_tool(*_recorded(result), call=answer)
        return result

    def _refuses(self, answer: Answer, on_nudge: OnNudge | None) -> bool:
        """Return whether `on_nudge` answers in place of the function.

        Raises:
            LoopDetected: nothing else can answer.
        """
        if answer.allows_call or (self.mode is not Mode.ENFORCE and on_nudge is None):
            return False
        try:
            self._refuse_now(answer)
        except Exception:  # noqa: BLE001 - the answer holds all the same
            report_bug("refusing a tool")
        if answer.action is Action.STOP or on_nudge is None:
            raise error_for(answer)
        return True

    def before_tool(self, name: str, arguments: Any = None) -> Answer:
        """Ask whether a tool may be called."""
        raise NotImplementedError

    def after_tool(
        self, result: Any = ..., *, error: BaseException | str | None = None, call: Answer | str | None = None
    ) -> Answer:
        """Say what came back."""
        raise NotImplementedError

    def _refuse_now(self, answer: Answer) -> None:
        raise NotImplementedError


def _recorded(result: Any) -> tuple[Any, ...]:
    """Return the result where it says something by now; what is still to be produced is not known."""
    unknown = inspect.isgenerator(result) or inspect.isasyncgen(result) or inspect.isawaitable(result)
    return () if unknown else (result,)


def _call(function: Callable[..., T], arguments: Any) -> T:
    if arguments is None:
        return function()
    return function(**arguments) if isinstance(arguments, Mapping) else function(arguments)


def _arguments_of(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the arguments by name, however they were passed; as they came where the function cannot be looked at."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return {"args": list(args), **kwargs}
    bound.apply_defaults()
    return {name: value for name, value in bound.arguments.items() if name not in {"self", "cls"}}
