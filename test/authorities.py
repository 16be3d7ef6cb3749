"""Callers of several authorities."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from robot_memory.core.authority import Writer
from robot_memory.memory import caller

OPERATOR = Writer.of_role('cli', 'anna', 'operator')
PLANNER = Writer.of_role('mcp-http', 'planner 1', 'planner')


@contextmanager
def calling(writer: Writer) -> Iterator[None]:
    """Let a writer be who calls."""
    token = caller.set(writer)
    try:
        yield
    finally:
        caller.reset(token)
