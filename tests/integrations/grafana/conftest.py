"""
A Prometheus that holds traffic with known scores.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest


class Known(NamedTuple):
    """
    A running Prometheus, the end of its traffic in unix seconds, and its database.
    """

    prometheus: object
    end: int
    tsdb: Path


@pytest.fixture(scope="session")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Known]:
    """
    Backfill a Prometheus with the known traffic, and run it.
    """
    import backend_servers
    import known_world

    promtool = backend_servers.program("promtool")
    folder = tmp_path_factory.mktemp("known")
    end = int(time.time())
    (folder / "traffic.txt").write_text(known_world.openmetrics(end), encoding="utf-8")
    backfill = [promtool, "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=720h"]
    subprocess.run([*backfill, folder / "traffic.txt", folder / "tsdb"], check=True, capture_output=True)
    with backend_servers.prometheus(folder / "server", tsdb=folder / "tsdb") as server:
        yield Known(server, end, folder / "tsdb")
