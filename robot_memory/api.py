"""The Python face: every tool as a method, made from its declaration."""

from __future__ import annotations

import atexit
import inspect
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robot_memory.required import explained

try:
    from robot_memory.configuration import settings as configured
    from robot_memory.errors import InvalidArgument
    from robot_memory.fields import fields_of
    from robot_memory.memory import Memory
    from robot_memory.tool import Tool
    from robot_memory.tools import TOOLS
except ModuleNotFoundError as error:
    raise explained(error) from None

_open: weakref.WeakSet[Memory] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # A thread that is in the model's library when the interpreter ends would abort it.
    for memory in list(_open):
        memory.close()


class RobotMemory:
    """
    Open a store and call its tools: `RobotMemory('cell.db').recall('red cup').memories`.

    Arguments are those of `Settings`. Each tool answers with its response dataclass and raises a
    RobotMemoryError; `fields.plain` turns a response into the JSON of the other faces.
    """

    def __init__(self, db_path: str | Path = '', **settings: Any) -> None:
        """Open the store; the model is loaded beside the first calls."""
        given = {'db_path': str(db_path), **settings}
        chosen, found = configured(given, 'RobotMemory')
        found.tell()
        self.memory = Memory(chosen)
        _open.add(self.memory)

    def __enter__(self) -> RobotMemory:
        """Return itself, to be closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    if TYPE_CHECKING:  # the tools' methods are made below

        def __getattr__(self, name: str) -> Any: ...

    def close(self) -> None:
        """Write down what is still to be noted, and close the store."""
        _open.discard(self.memory)
        self.memory.close()

    def wait_for_model(self, timeout: float | None = None) -> bool:
        """Wait until search by meaning is ready, at most `timeout` seconds; say whether it is."""
        return self.memory.embedder.wait(timeout) is not None


def _method(tool: Tool[Any, Any]) -> Any:
    fields = fields_of(tool.request)
    names = [field.name for field in fields]
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if field.required else field.default,
        )
        for field in fields
    ]
    myself = inspect.Parameter('self', inspect.Parameter.POSITIONAL_ONLY)
    signature = inspect.Signature([myself, *parameters])

    def method(self: RobotMemory, /, *args: Any, **kwargs: Any) -> Any:
        if len(args) > len(names) or not kwargs.keys().isdisjoint(names[: len(args)]):
            raise InvalidArgument(
                f'{tool.name} takes each of {", ".join(names)} once, '
                f'not {len(args)} by place and {", ".join(kwargs) or "none"} by name'
            )
        return tool.run(self.memory, {**dict(zip(names, args, strict=False)), **kwargs})

    method.__name__ = tool.name
    method.__doc__ = tool.help
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


for _tool in TOOLS:
    setattr(RobotMemory, _tool.name, _method(_tool))
