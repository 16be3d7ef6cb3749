"""Any request, however wrong, is answered or refused, and what was refused changed nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from amounts import few_or_many
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from robots import MovableClock, Robot
from wild_requests import GENERATED, Watched

from robot_memory.catalog import list_tools
from robot_memory.core.settings import Settings
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.memory import Memory
from robot_memory.tool import Tool


@pytest.fixture(scope='module')
def watched(
    tmp_path_factory: pytest.TempPathFactory, tiny_embedders: dict[int, BackgroundEmbedder]
) -> Iterator[Watched]:
    path: Path = tmp_path_factory.mktemp('properties') / 'memory.db'
    chosen = Settings(db_path=str(path), durability='normal', python_role='operator')
    clock = MovableClock()
    with Memory(chosen, clocks=clock, embedder=tiny_embedders[8]) as memory:
        yield Watched(Robot(memory))


@pytest.mark.parametrize('tool', list_tools(), ids=lambda tool: tool.name)
@settings(
    max_examples=few_or_many(60, 150),
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_any_request_is_answered_or_refused_whole(
    watched: Watched, tool: Tool[Any, Any], data: st.DataObject
) -> None:
    watched.call(tool, data.draw(GENERATED[tool.name]))
    watched.check()


def test_the_generated_requests_were_of_both_kinds_for_every_tool(watched: Watched) -> None:
    for tool in list_tools():
        assert watched.outcomes[tool.name, True] >= 3, f'{tool.name} was hardly ever answered'
        assert watched.outcomes[tool.name, False] >= 1, f'{tool.name} was hardly ever refused'
