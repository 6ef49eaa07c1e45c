"""
Score every RAG request of a process without touching its code.

`opentelemetry-instrument` finds this by its entry point, `rageval_trace_llama_index`, which is also the name that
OTEL_PYTHON_DISABLED_INSTRUMENTATIONS knows it by. Where LlamaIndex is missing, the import of this package says so with
the `ModuleNotFoundError` that OpenTelemetry's loader passes over in silence.
"""

from __future__ import annotations

from threading import RLock
from typing import Any, ClassVar

from typing_extensions import Self

from rageval_trace_llama_index.handler import RagEvalHandler

__all__ = ["RagEvalInstrumentor"]


class RagEvalInstrumentor:
    """
    Install one handler for the process.

    Where a `RagEvalHandler` is installed by hand as well, that one counts and this one steps aside. One instance
    serves a process, as OpenTelemetry's own instrumentors do; the class needs none of their packages.
    """

    _instance: ClassVar[Self | None] = None
    _lock: ClassVar[RLock] = RLock()
    handler: RagEvalHandler | None

    def __new__(cls) -> Self:
        """
        Return the process's one instance.
        """
        with cls._lock:
            if cls._instance is None:
                made = super().__new__(cls)
                made.handler = None
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
            if self.handler is None:
                self.handler = RagEvalHandler(**arguments).install_automatically()

    def uninstrument(self, **_: Any) -> None:
        """
        Stop, and drain what is being scored in the background.
        """
        with self._lock:
            if self.handler is not None:
                self.handler.close()
                self.handler = None
