"""
The failures that a caller can act on, one class per error code of the contract.

Some have a number beside the code, which the tools of the Sage document tell in its place.
"""

from __future__ import annotations

from robot_memory.text.controls import escape_controls


class RobotMemoryError(Exception):
    """
    Be the base of every failure that this package reports to a caller.

    The message names the field, the value and what would be accepted; `hint` says what to do
    where the message alone does not.
    """

    code = 'internal'
    number: int | None = None
    hint = ''

    def __str__(self) -> str:
        """Return the message; controls of what it quotes from the store are escapes."""
        return escape_controls(super().__str__())


class InvalidArgument(RobotMemoryError):
    """A value is outside of what its field accepts; nothing was changed."""

    code = 'invalid_argument'


class NotFound(RobotMemoryError):
    """The named memory or session does not exist."""

    code = 'not_found'


class Conflict(RobotMemoryError):
    """The memory or session exists, but its state does not allow the call."""

    code = 'conflict'


class Unavailable(RobotMemoryError):
    """A part that the call needs (store, model, port) cannot be reached now."""

    code = 'unavailable'
    number = 1001
    hint = (
        'Check that the database file is readable and writable and that the disk has free space, '
        'then retry.'
    )


class Damaged(Unavailable):
    """Pages of the store are damaged; `owners` are the tables and indexes that they are of."""

    hint = (
        'Calls that do not need the damaged pages go on; `robot-memory verify` names all of them. '
        'An index is made anew by a running process; for rows use `robot-memory salvage`, or '
        'restore a backup.'
    )

    def __init__(self, message: str, owners: frozenset[str] = frozenset()) -> None:
        """Take the message and the tables and indexes."""
        super().__init__(message)
        self.owners = owners


class Cancelled(Unavailable):
    """A long call is asked to stop, and stops where the store is whole."""


class ModelFailed(Unavailable):
    """The embedding model gave no vector; words go on without it."""

    number = 1002
    hint = (
        'The embedding model is missing or failed: recall continues as bm25_only; `robot-memory '
        'status` shows the reason.'
    )


class CopyFailed(Unavailable):
    """The copy in memory of what is indexed cannot be used; the file is whole."""

    number = 1003
    hint = 'Retry: the in-memory index is rebuilt from the file, which is intact.'


def list_error_classes() -> tuple[type[RobotMemoryError], ...]:
    """Return the classes of the contract's codes, each code once."""
    return tuple(RobotMemoryError.__subclasses__())


def list_error_numbers() -> tuple[int, ...]:
    """Return the numbers that failures of parts have beside their code."""
    found: tuple[type[Unavailable], ...] = (Unavailable, *Unavailable.__subclasses__())
    return tuple(dict.fromkeys(kind.number for kind in found if kind.number is not None))


class Internal(RobotMemoryError):
    """A fault of this package; the log has the traceback."""

    code = 'internal'
