"""
A loopback receiver of OTLP over HTTP and gRPC that keeps what arrives, and can refuse the first requests.
"""

from __future__ import annotations

import contextlib
import gzip
import threading
from collections.abc import Iterator
from concurrent import futures
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

_REQUESTS = {
    "/v1/traces": trace_service_pb2.ExportTraceServiceRequest,
    "/v1/metrics": metrics_service_pb2.ExportMetricsServiceRequest,
    "/v1/logs": logs_service_pb2.ExportLogsServiceRequest,
}


@dataclass
class Receiver:
    """
    Where it listens, and what it took.

    Args:
        http: Base URL for HTTP.
        grpc: Host and port for gRPC.
        refuse: How many requests over HTTP are still to be refused with 503.
    """

    http: str = ""
    grpc: str = ""
    refuse: int = 0
    refused: int = 0
    taken: list[Any] = field(default_factory=list)

    @property
    def spans(self) -> list[tuple[Any, Any, Any]]:
        """
        Return each span with its resource and scope.
        """
        return [
            (resource.resource, scope.scope, span)
            for request in self.taken
            for resource in getattr(request, "resource_spans", ())
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def logs(self) -> list[Any]:
        """
        Return the log records.
        """
        return [
            record
            for request in self.taken
            for resource in getattr(request, "resource_logs", ())
            for scope in resource.scope_logs
            for record in scope.log_records
        ]

    @property
    def metrics(self) -> dict[str, Any]:
        """
        Return the newest state of each metric by name.
        """
        return {
            metric.name: metric
            for request in self.taken
            for resource in getattr(request, "resource_metrics", ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


@contextlib.contextmanager
def receiver() -> Iterator[Receiver]:
    """
    Receive for the time of a `with` block.
    """
    kept = Receiver()
    server = grpc.server(futures.ThreadPoolExecutor(2))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(
        _Servicer(kept, trace_service_pb2.ExportTraceServiceResponse), server
    )
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(
        _Servicer(kept, metrics_service_pb2.ExportMetricsServiceResponse), server
    )
    logs_service_pb2_grpc.add_LogsServiceServicer_to_server(
        _Servicer(kept, logs_service_pb2.ExportLogsServiceResponse), server
    )
    kept.grpc = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    web = ThreadingHTTPServer(("127.0.0.1", 0), _handler(kept))
    kept.http = f"http://127.0.0.1:{web.server_address[1]}"
    thread = threading.Thread(target=web.serve_forever)
    thread.start()
    try:
        yield kept
    finally:
        web.shutdown()
        thread.join()
        web.server_close()
        server.stop(None).wait()


class _Servicer:
    """
    The one method that the three services share.
    """

    def __init__(self, kept: Receiver, answer: Any) -> None:
        self._kept, self._answer = kept, answer

    def Export(self, request: Any, context: Any) -> Any:
        self._kept.taken.append(request)
        return self._answer()


def _handler(kept: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if kept.refuse > 0:
                kept.refuse -= 1
                kept.refused += 1
                self._answer(503)
                return
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            request = _REQUESTS[self.path]()
            request.ParseFromString(body)
            kept.taken.append(request)
            self._answer(200)

        def _answer(self, status: int) -> None:
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    return Handler
