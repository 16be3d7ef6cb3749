"""The actions: long calls with progress, of which a caller can cancel each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robot_memory.catalog import get_tool
from robot_memory.core.fields import arg
from robot_memory.ingest.import_files import import_files
from robot_memory.tool import Tool
from robot_memory.tools.export_file import export_file


@dataclass(frozen=True)
class Progress:
    """How far a long call is: the feedback of every action."""

    done: int = arg('How many are done.')
    total: int = arg('Of how many; 0: not known yet.')
    step: str = arg('What comes next.')


@dataclass(frozen=True)
class DeclaredAction:
    """An action: its name, the tool that carries out its goals, and a goal in YAML."""

    name: str
    tool: Tool[Any, Any]
    example: str

    @property
    def type_name(self) -> str:
        """Return the name of its .action: Import for import."""
        return self.name.capitalize()


ACTIONS = (
    DeclaredAction('import', import_files, '{bags: [/data/monday.mcap]}'),
    DeclaredAction('export', export_file, '{session_id: all, path: /data/store.jsonl.gz}'),
    DeclaredAction('erase', get_tool('erase'), "{token: '...'}"),
    DeclaredAction('maintain', get_tool('maintain'), '{}'),
)
