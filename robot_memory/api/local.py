"""The Python face: every tool as a typed method."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robot_memory.core.dependencies import explain_missing
from robot_memory.core.version import get_version

try:
    from robot_memory.api.methods import ToolMethods
    from robot_memory.catalog import get_tool
    from robot_memory.core.configuration import load_settings as configured
    from robot_memory.memory import Memory
except ModuleNotFoundError as error:
    raise explain_missing(error) from None

__version__ = get_version()
_open: weakref.WeakSet[Memory] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # A thread that is in the model's library when the interpreter ends would abort it.
    for memory in list(_open):
        memory.close()


class RobotMemory(ToolMethods):
    """
    Open a store and call its tools: `RobotMemory('cell.db').recall('red cup').memories`.

    Arguments are those of `Settings`. Each tool answers with its response dataclass and raises a
    RobotMemoryError; `fields.to_plain` turns a response into the JSON of the other faces.
    """

    def __init__(
        self, db_path: str | Path | None = None, *, upgrade: bool = False, **settings: Any
    ) -> None:
        """
        Open the store; the model is loaded beside the first calls.

        Without a `db_path` (None or empty) it is the file that the environment names, else that
        in the user's data folder, as for every other face.

        A store of an earlier release is refused, or upgraded where `upgrade` says so.
        """
        given = {'db_path': str(db_path), **settings} if db_path else settings
        chosen, found = configured(given, 'RobotMemory')
        found.log()
        self.memory = Memory(chosen, upgrade=upgrade)
        _open.add(self.memory)

    def __enter__(self) -> RobotMemory:
        """Return itself, to be closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Write down what is still to be noted, and close the store."""
        _open.discard(self.memory)
        self.memory.close()

    def wait_for_model(self, timeout: float | None = None) -> bool:
        """Wait until search by meaning is ready, at most `timeout` seconds; say whether it is."""
        return self.memory.embedder.wait(timeout) is not None

    def _run(self, name: str, arguments: Mapping[str, Any]) -> Any:
        return get_tool(name).run(self.memory, arguments)
