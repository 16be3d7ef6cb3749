"""A node with all its faces tries nothing but the loopback and DDS, and writes its own files."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from watched import STORE_FILES, Watch

from robot_memory.client import SageClient


def test_a_node_serves_ros_and_mcp_and_tries_no_address_outside(
    watch: Watch,
    start: Callable[..., Any],
    robot: Any,
    tiny_models: dict[int, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = shutil.copytree(tiny_models[8], watch.home / 'model')
    with monkeypatch.context() as watched:
        watched.delenv('ORT_DISABLE_TELEMETRY', raising=False)
        for name, value in watch.environment.items():
            watched.setenv(name, value)
        node = start(
            db_path=watch.home / 'memory.db', model=model, mcp_enabled='true', mcp_port='0'
        )
    assert robot.call('learn', insight='The red cup needs 12.5 N of grip force').success
    robot.until(lambda: robot.call('recall', query='red cup').mode == 'hybrid', 'the model')
    served = robot.until(lambda: re.search(r'MCP: http://127\.0\.0\.1:(\d+)', node.said()), 'MCP')
    with SageClient(port=int(served[1])) as client:
        assert 'cup' in str(client.search('red cup'))
    assert node.stop() == 0
    assert any(call == 'send' for call, _ in watch.events()), 'DDS was not watched'
    assert watch.tried() == set()
    known = re.compile(STORE_FILES + r'|model/.*|\.ros/log/.*')
    assert {name for name in watch.written() if not known.fullmatch(name)} == set()
