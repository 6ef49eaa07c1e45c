"""
Score every RAG request of a process without touching its code.

`opentelemetry-instrument` finds this by its entry point, `rageval_trace_langchain`, which is also the name that
OTEL_PYTHON_DISABLED_INSTRUMENTATIONS knows it by.
"""

from __future__ import annotations

from contextvars import ContextVar
from threading import RLock
from typing import Any, ClassVar

from langchain_core.tracers import context
from typing_extensions import Self

from rageval_trace_langchain.claims import CLAIMS
from rageval_trace_langchain.handler import RagEvalHandler

__all__ = ["RagEvalInstrumentor"]


class RagEvalInstrumentor:
    """
    Attach one handler to every LangChain run of the process.

    Where a `RagEvalHandler` is attached by hand as well, that one counts and this one steps aside. One instance
    serves a process, as OpenTelemetry's own instrumentors do; the class needs none of their packages.
    """

    _instance: ClassVar[Self | None] = None
    _lock: ClassVar[RLock] = RLock()
    handler: RagEvalHandler | None
    _hook: tuple[Any, ...] | None

    def __new__(cls) -> Self:
        """
        Return the process's one instance.
        """
        with cls._lock:
            if cls._instance is None:
                made = super().__new__(cls)
                made.handler = made._hook = None
                cls._instance = made
            return cls._instance

    def instrument(self, *, skip_dep_check: bool = False, **arguments: Any) -> None:
        """
        Begin; a second call changes nothing.

        Args:
            skip_dep_check: Accepted for OpenTelemetry's loader.
            arguments: As for `RagEvalHandler`.
        """
        del skip_dep_check
        with self._lock:
            if self.handler is not None:
                return
            handler = RagEvalHandler(**arguments)
            handler.attach_automatically()
            # A variable's default, unlike its value, is seen in every thread, also those that began before.
            variable: ContextVar[RagEvalHandler | None] = ContextVar("rageval_trace_handler", default=handler)
            context.register_configure_hook(variable, inheritable=True)
            self.handler, self._hook = handler, context._configure_hooks[-1]  # noqa: SLF001 - there is no way back but this

    def uninstrument(self, **_: Any) -> None:
        """
        Stop, and drain what is being scored in the background.
        """
        with self._lock:
            if self.handler is None:
                return
            hooks: list[Any] = context._configure_hooks  # noqa: SLF001 - the same
            if self._hook in hooks:
                hooks.remove(self._hook)
            CLAIMS.watch(None)
            self.handler.pause()
            self.handler.close()
            self.handler = self._hook = None
