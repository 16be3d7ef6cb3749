"""A node reads the environment and the file of the Sage document where no parameter says more."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from waiting import HANG_SECONDS


def test_a_parameter_wins_over_the_environment_and_that_over_the_file(
    start: Callable[..., Any], robot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / '.sage'
    folder.mkdir()
    content = {
        'retrieval': {'max_results': 3, 'enable_llm_summary': True},
        'cache': {'ttl_seconds': 70},
    }
    (folder / 'config.json').write_text(json.dumps(content))
    monkeypatch.setenv('HOME', str(tmp_path))
    monkeypatch.setenv('SAGE_MAX_RESULTS', '1')
    monkeypatch.setenv('SAGE_CACHE_TTL', 'soon')
    node = start()
    for number in range(5):
        robot.call('learn', insight=f'The red cup {number} is in the kitchen')
    found = robot.call('get_context', query='red cup kitchen', strategy='AGGRESSIVE')
    assert found.success and found.num_results == 1
    robot.until(lambda: 'not available: retrieval.enable_llm_summary' in node.said(), 'a warning')
    assert "ignoring SAGE_CACHE_TTL='soon'" in node.said()
    assert node.stop() == 0
    robot.until_gone('learn')
    start(default_results=2)
    robot.call('learn', insight='The red cup 1 is in the kitchen')
    robot.call('learn', insight='The red cup 2 is in the kitchen')
    robot.call('learn', insight='The red cup 3 is in the kitchen')
    found = robot.call('get_context', query='red cup kitchen', strategy='AGGRESSIVE')
    assert found.num_results == 2


def test_a_node_that_is_sent_to_a_database_server_says_what_to_do(
    start: Callable[..., Any], robot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('DATABASE_URL', 'postgresql://mem:secret@localhost/mem')
    monkeypatch.delenv('ROBOT_MEMORY_DB', raising=False)
    node = start(db_path="''")
    assert node.process.wait(HANG_SECONDS) == 1
    assert '[invalid_argument] DATABASE_URL' in node.said() and 'secret' not in node.said()
