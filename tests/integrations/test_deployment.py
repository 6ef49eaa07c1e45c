"""
What an operator mounts: files that exist, keys that the back ends know, names that we emit.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("yaml", reason="needs the dev extra")

import yaml

from rageval_trace.metrics.base import names as metric_names
from rageval_trace.telemetry import names

FOLDER = Path(__file__).resolve().parents[2] / "integrations"


def _load(path: str) -> Any:
    return yaml.safe_load((FOLDER / path).read_text(encoding="utf-8"))


COMPOSE, COLLECTOR = _load("compose.yaml"), _load("otel-collector/config.yaml")


def test_the_compose_file_is_one(tmp_path: Path) -> None:
    """
    The compose specification's schema accepts it, and rejects it with a misspelt key.
    """
    pytest.importorskip("check_jsonschema", reason="needs the dev extra")
    good, bad = FOLDER / "compose.yaml", tmp_path / "compose.yaml"
    bad.write_text(good.read_text(encoding="utf-8").replace("    volumes:", "    volume:"), encoding="utf-8")
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    assert [0, 1] == [
        subprocess.run([*check, file], check=False, capture_output=True).returncode for file in (good, bad)
    ]


def test_images_are_pinned_and_mounts_exist() -> None:
    """
    No image floats, every port is local, and each mounted path is in this repository.
    """
    for name, service in COMPOSE["services"].items():
        assert re.fullmatch(r"[\w./-]+:\d+\.[\w.-]+", service["image"]), name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name
        for mount in service.get("volumes", []):
            assert (FOLDER / mount.split(":")[0]).exists(), mount


def test_the_demo_command_runs_what_is_there() -> None:
    """
    The feed that the compose file starts is a file here, and the collector's addresses are services of it.
    """
    services = COMPOSE["services"]
    assert (FOLDER / "feed.py").is_file()
    assert "integrations/feed.py http://collector:4318" in str(services["demo"]["command"])
    hosts = {
        re.sub(r"^\w+://", "", address).partition(":")[0] for address in services["collector"]["environment"].values()
    }
    assert hosts <= set(services)


def test_provisioning_points_at_the_dashboards() -> None:
    """
    Grafana is told the folder that the compose file mounts, and exemplars lead to a data source that exists.
    """
    provider = _load("grafana/provisioning/dashboards.yaml")["providers"][0]
    mounts = [mount.split(":") for mount in COMPOSE["services"]["lgtm"]["volumes"]]
    assert ("./grafana/dashboards", provider["options"]["path"]) in [(here, there) for here, there, _ in mounts]
    sources = {one["uid"]: one for one in _load("grafana/provisioning/datasources.yaml")["datasources"]}
    link = sources["prometheus"]["jsonData"]["exemplarTraceIdDestinations"][0]
    assert ("trace_id", True) == (link["name"], link["datasourceUid"] in sources)


def test_the_collector_uses_what_it_declares() -> None:
    """
    Each pipeline's parts are declared, each declared part is used, and every address can be set.
    """
    pipelines = COLLECTOR["service"]["pipelines"]
    assert {"logs", "metrics", "traces"} == set(pipelines)
    for kind in ("receivers", "processors", "exporters"):
        assert set(COLLECTOR[kind]) == {name for pipeline in pipelines.values() for name in pipeline[kind]}
    assert all("${env:" in exporter["endpoint"] for exporter in COLLECTOR["exporters"].values())
    asked = set(re.findall(r"env:(\w+)", (FOLDER / "otel-collector" / "config.yaml").read_text(encoding="utf-8")))
    assert asked == set(COMPOSE["services"]["collector"]["environment"])


def test_the_collector_samples_whole_traces_by_keys_it_knows() -> None:
    """
    The tail sampler has the keys of its own documentation, and its first policy reads the verdict that we write.
    """
    sampler = COLLECTOR["processors"]["tail_sampling"]
    assert {"decision_wait", "num_traces", "decision_cache", "policies"} == set(sampler)
    assert {"string_attribute", "status_code", "probabilistic"} == {policy["type"] for policy in sampler["policies"]}
    assert all({"name", "type", policy["type"]} == set(policy) for policy in sampler["policies"])
    verdict = sampler["policies"][0]["string_attribute"]
    assert names.VERDICT == verdict["key"]
    assert set(verdict["values"]) <= set(names.VERDICTS)
    assert "tail_sampling" not in COLLECTOR["service"]["pipelines"]["metrics"]["processors"]


@pytest.mark.parametrize("file", ["jaeger/searches.yaml", "tempo/searches.yaml"])
def test_searches_read_what_we_write(file: str) -> None:
    """
    Every attribute of a search is one of ours; TraceQL has no number that begins with a dot.
    """
    ours = {value for key, value in vars(names).items() if key.isupper() and isinstance(value, str)}
    ours |= {names.SCORE_PREFIX + metric for metric in metric_names()} | {"error"}
    for one in _load(file):
        text = one.get("tags") or one["query"]
        read = re.findall(r"([\w.]+)=", text) if "tags" in one else re.findall(r"(?:span|event)\.([\w.]+)", text)
        assert [] == [name for name in read if name not in ours], text
        assert not re.search(r"[^\d]\.\d", text)


def test_prometheus_reads_the_rules() -> None:
    """
    The example configuration names the rules that lie beside it, and promtool accepts it.
    """
    rules = _load("prometheus/prometheus.yaml")["rule_files"]
    assert sorted(rules) == sorted(path.name for path in (FOLDER / "prometheus").glob("*.rules.yaml"))
    if shutil.which("promtool") is None:
        pytest.skip("promtool is missing: apt-get install prometheus")
    check = ["promtool", "check", "config", FOLDER / "prometheus" / "prometheus.yaml"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr


def test_the_readme_names_every_metric() -> None:
    """
    The table of metrics is that of the instruments: name, kind and labels.
    """
    kinds = {"histogram": "histogram", "counter": "counter", "up_down_counter": "gauge"}
    rows = [
        f"| `{one.prometheus}` | {kinds[one.kind]} | {', '.join([f'`{x}`' for x in one.attributes]).replace('.', '_')} |"
        for one in names.INSTRUMENTS
    ]
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    written = text.partition("<!-- metrics")[2].partition("\n\n")[0].splitlines()[3:]
    assert sorted([row.replace("|  |", "| |") for row in rows]) == sorted(written)


def test_the_readme_s_promql_reads_what_there_is() -> None:
    """
    Its three lines parse, and read declared series and labels.
    """
    pytest.importorskip("promql_parser", reason="needs the dev extra")
    import promql_facts

    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^    (sum.*)$", text.partition("## Three lines")[2].partition("\n## ")[0], re.MULTILINE)
    assert 3 == len(lines)
    assert [] == [wrong for line in lines for wrong in promql_facts.wrong_names(line)]


def test_the_readme_s_arithmetic_follows_the_buckets() -> None:
    """
    A score has sixteen series and a duration twenty, as the README counts.
    """
    made = {one.name: len(one.buckets) + 3 for one in names.INSTRUMENTS}
    assert (16, 20, 15) == (
        made[names.METRIC_SCORE],
        made[names.METRIC_DURATION],
        made[names.METRIC_CONTEXT_AGE],
    )
    assert 9 == len(names.OUTCOMES) == len(names.ANSWERS) * len(names.RETRIEVALS)


def test_the_feed_sends_what_the_dashboards_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    The compose file's feed sends spans, scores and events to an OTLP receiver.
    """
    pytest.importorskip("grpc", reason="needs the dev extra")
    pytest.importorskip("langchain_core", reason="needs the dev extra")
    import otlp_receiver

    monkeypatch.syspath_prepend(str(FOLDER))
    import feed

    with otlp_receiver.receiver() as target:
        feed.main(target.http, pause_s=0.0, count=8)
    assert 8 == len([span for _, _, span in target.spans if span.name.startswith("evaluation ")])
    assert {names.METRIC_SCORE, names.METRIC_REQUESTS, names.METRIC_ANSWERS} <= set(target.metrics)
    assert target.logs
