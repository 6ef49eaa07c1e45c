"""
How Jaeger 2 stores a span that came over OTLP, and what its search finds: rules re-implemented from its documentation.

Our reading of them, not Jaeger itself: tags are typed, arrays become JSON text, events become logs, and a search
compares the text of span, resource, event and scope tags for equality.
"""

from __future__ import annotations

import json
from typing import Any


def stored(resource: Any, scope: Any, span: Any) -> dict[str, Any]:
    """
    Return a span as Jaeger keeps it.
    """
    about = {one.key: _value(one.value) for one in resource.attributes}
    tags = {one.key: _value(one.value) for one in span.attributes}
    tags |= {"otel.scope.name": scope.name, "otel.scope.version": scope.version}
    tags |= {"span.kind": {1: "internal", 2: "server", 3: "client", 4: "producer", 5: "consumer"}[span.kind]}
    if span.status.code == 2:
        tags["error"] = True
    return {
        "serviceName": about.pop("service.name", "OTLPResourceNoServiceName"),
        "processTags": about,
        "operationName": span.name,
        "tags": tags,
        "logs": [{"event": event.name, **{x.key: _value(x.value) for x in event.attributes}} for event in span.events],
        "references": [{"refType": "FOLLOWS_FROM", "spanID": link.span_id.hex()} for link in span.links],
        "traceID": span.trace_id.hex(),
        "startTime": span.start_time_unix_nano // 1000,
    }


def search(spans: list[dict[str, Any]], service: str, tags: str) -> list[dict[str, Any]]:
    """
    Return the spans that a search finds.

    Args:
        spans: As stored.
        service: Name of the service.
        tags: As in the search form: `key=value key="another value"`.
    """
    wanted = [part.partition("=")[::2] for part in tags.split()]
    return [
        span
        for span in spans
        if span["serviceName"] == service and all(_has(span, key, value.strip('"')) for key, value in wanted)
    ]


def _has(span: dict[str, Any], key: str, value: str) -> bool:
    places = [span["tags"], span["processTags"], *span["logs"]]
    return any(key in place and _text(place[key]) == value for place in places)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return json.dumps([_value(one) for one in value.array_value.values])
    return None if kind is None else getattr(value, kind)
