"""Who may change what: a lower authority never changes what stands on a higher one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from robot_memory.core.authority import Writer, is_higher
from robot_memory.core.errors import Conflict
from robot_memory.core.records import Record
from robot_memory.memory import caller
from robot_memory.storage import Connection
from robot_memory.storage.tables import audit, proposals


def may_change(record: Record, writer: Writer) -> bool:
    """Return whether a writer may update, forget, merge or replace a memory."""
    return not is_higher(record.authority, writer.authority)


def propose_replacement(
    connection: Connection, old: Record, new: Record, writer: Writer
) -> tuple[int, int]:
    """Store the proposal that a memory replaces another; return it and its audit line."""
    number = proposals.insert(
        connection,
        old.id,
        'replace',
        writer,
        new.created_at,
        content=new.content,
        replacing_id=new.id,
    )
    detail = {'proposal': number, 'action': 'replace'}
    return number, audit.record(connection, old.id, 'proposed', writer, '', detail, new.created_at)


def propose(
    connection: Connection,
    record: Record,
    action: str,
    writer: Writer,
    at: int,
    *,
    content: str | None = None,
    context: Mapping[str, Any] | None = None,
    reason: str = '',
) -> Conflict | None:
    """
    Return None where a writer may change a memory, else the Conflict to raise.

    The change is then stored as a proposal: raise the Conflict after the transaction.
    """
    if may_change(record, writer):
        return None
    number = proposals.insert(
        connection,
        record.id,
        action,
        writer,
        at,
        content=content,
        context=context,
        reason=reason,
    )
    detail = {'proposal': number, 'action': action}
    audit.record(connection, record.id, 'proposed', writer, reason, detail, at)
    return Conflict(
        f'memory {record.id} stands on the authority {record.authority}, and {writer.authority} '
        f'is lower: it was not changed. Proposal {number} is open; an operator can accept it '
        f'(robot-memory review --accept {number})'
    )


@contextmanager
def calling(writer: Writer) -> Iterator[None]:
    """Have a writer be the caller in the block."""
    before = caller.set(writer)
    try:
        yield
    finally:
        caller.reset(before)
