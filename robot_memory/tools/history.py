"""Say what was done to a memory."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.clock import format_instant
from robot_memory.core.fields import Json, arg
from robot_memory.core.truncation import fit_each
from robot_memory.memory import Memory
from robot_memory.retrieval.past import Change, read_history
from robot_memory.tool import tool

_LONG = ('content', 'detail')


@dataclass(frozen=True)
class HistoryRequest:
    """Request of history."""

    memory_id: int = arg('Memory whose history is returned.', minimum=1)


@dataclass(frozen=True)
class HistoryEntry:
    """One audit line of a memory."""

    line: int = arg('Number of the audit line, for undo and as_of (#120).')
    at: str = arg('Time of the change, UTC, ISO 8601.', typed='instant')
    action: str = arg(
        'created, detected, imported, update, invalidated, superseded, reclassify, repeated, '
        'reinstated, linked, payload_removed, folded or undo.'
    )
    actor: str = arg('Who did it.')
    reason: str = arg('Reason, as given.')
    content: str | None = arg(
        'Text of the memory after it; null where no state of then is stored.', default=None
    )
    status: str | None = arg('Status of the memory after it.', default=None)
    undone_by: int | None = arg('Audit line that undid it.', default=None, omitted=True)
    detail: Json | None = arg('Details of the action.', default=None, omitted=True)
    shortened: tuple[str, ...] | None = arg(
        'Fields truncated in this response.', default=None, omitted=True
    )


@dataclass(frozen=True)
class HistoryResponse:
    """Response of history."""

    memory_id: int = arg('Memory id.')
    entries: tuple[HistoryEntry, ...] = arg('Audit lines of the memory, oldest first.')


@tool(read_only=True, idempotent=True)
def history(memory: Memory, request: HistoryRequest) -> HistoryResponse:
    """
    Return what was done to a memory: who, when and why, with its text after each change.

    undo takes back the newest change that stands; as_of of recall and query_records takes the
    number of a line.
    """
    changes = read_history(memory, request.memory_id)
    entries = tuple(fit_each([_view(change) for change in changes], _LONG))
    return HistoryResponse(request.memory_id, entries)


def _view(change: Change) -> HistoryEntry:
    line = change.line
    return HistoryEntry(
        line.id,
        format_instant(line.at),
        line.action,
        line.actor,
        line.reason,
        change.content,
        change.status,
        change.undone_by,
        line.detail or None,
    )
