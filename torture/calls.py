"""Random requests to every tool, most of them wrong: answered or refused, and refused whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import checker
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from robots import MovableClock, Robot, make_model
from wild_requests import GENERATED, Watched

from robot_memory.catalog import list_tools
from robot_memory.core.settings import Settings
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.memory import Memory

FULLY = 20
"""Of so many calls one is looked at with all rows before and after."""
BATCH = 500
"""Calls of one tool at a time, after which the file is checked."""


def call_all(
    folder: Path, number: int, first_seed: int, add: Callable[[str, str], None]
) -> dict[str, int]:
    """Make so many calls, to each tool in its turn; return how many were answered and refused."""
    model = make_model(folder / 'model', 8)
    embedder = BackgroundEmbedder(str(model))
    chosen = Settings(
        db_path=str(folder / 'memory.db'), durability='normal', python_role='operator'
    )
    with Memory(chosen, clocks=MovableClock(), embedder=embedder) as memory:
        watched = Watched(Robot(memory))
        tools = list_tools()
        each = max(1, -(-number // len(tools)))
        for place, tool in enumerate(tools):
            for batch in range(-(-each // BATCH)):
                size = min(BATCH, each - batch * BATCH)
                _call(watched, tool, size, f'{first_seed} {place} {batch}', add)
                watched.settle()
                problems = checker.check(folder / 'memory.db')
                if problems:
                    add('inconsistent', f'after {tool.name}: {"; ".join(problems[:5])}')
                    return _count(watched)
        watched.check()
    return _count(watched)


def _call(
    watched: Watched, tool: Any, size: int, seed_: str, add: Callable[[str, str], None]
) -> None:
    made = 0

    @seed(seed_)
    @settings(
        max_examples=size,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def call(data: st.DataObject) -> None:
        nonlocal made
        made += 1
        request = data.draw(GENERATED[tool.name])
        try:
            watched.call(tool, request, fully=made % FULLY == 0)
        except Exception as error:
            add('ended', f'{tool.name} {request!r:.500}: {error!r:.500}')
        else:
            add('', '')

    call()


def _count(watched: Watched) -> dict[str, int]:
    answered = sum(count for (_, kind), count in watched.outcomes.items() if kind)
    return {'answered': answered, 'refused': watched.outcomes.total() - answered}
