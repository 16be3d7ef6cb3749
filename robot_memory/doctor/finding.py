"""What a check finds, and what it needs to know of the installation."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from robot_memory.core.clock import SYSTEM_CLOCKS, Clocks
from robot_memory.core.errors import RobotMemoryError
from robot_memory.core.settings import McpSettings, Settings


@dataclass(frozen=True)
class Finding:
    """Name a fault: the check that found it, what it is, with which value, and what cures it."""

    check: str
    found: str
    cure: str


@dataclass(frozen=True)
class Installation:
    """
    Hold what is examined: the store with its settings, and the settings of a node.

    `params` is the node's parameter file, if one is named; `clocks` are the machine's.
    """

    path: Path
    settings: Settings
    mcp: McpSettings = field(default_factory=McpSettings)
    params: Path | None = None
    clocks: Clocks = SYSTEM_CLOCKS


class NotChecked(Exception):
    """A check that does not apply, or cannot be made now; the text says why."""


def read_finding(check: str, error: RobotMemoryError | str, cure: str = '') -> Finding:
    """
    Return the finding that an error's message is: what is wrong; what to do about it.

    `cure` is taken where the message has no such second part.
    """
    found, _, rest = str(error).partition('; ')
    return Finding(check, found, cure or rest) if rest or cure else Finding(check, found, found)
