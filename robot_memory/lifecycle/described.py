"""Changing a memory by its description: a preview names it, and its token changes exactly that."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from robot_memory.core.errors import Conflict
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.tables import confirmations, doomed
from robot_memory.storage.tables.doomed import Doomed


def preview(memory: Memory, action: str, memory_id: int, stated: Any) -> str:
    """Return the token that confirms a change of a memory; `stated` is what the change says."""
    with memory.db.write() as connection:
        items = [memory_id, _read_state(connection, memory_id), _digest(stated)]
        return confirmations.issue(connection, action, memory.caller, items, memory.clock())


def redeem(
    connection: Connection, memory: Memory, action: str, token: str, asked: int, stated: Any
) -> int:
    """
    Return the memory that a token changes; raise Conflict where it is not valid.

    So it is where the memory has changed since, where another one is `asked` for (0: none), or
    where the change says something else than in the preview.
    """
    memory_id, state, said = confirmations.redeem(
        connection, action, memory.caller, token, memory.clock()
    )
    if asked not in (0, memory_id) or said != _digest(stated):
        raise Conflict(
            f'the token confirms {action} of memory {memory_id} with the arguments of its '
            'preview; nothing was changed. Repeat them unchanged, or call without token for a '
            'new preview'
        )
    if state != _read_state(connection, memory_id):
        raise Conflict(
            f'memory {memory_id} changed since the preview; nothing was changed. Call without '
            'token for a new preview'
        )
    return int(memory_id)


def _read_state(connection: Connection, memory_id: int) -> str | None:
    meant = Doomed(created={memory_id: 0})
    return doomed.read_fingerprints(connection, meant).get(str(memory_id))


def _digest(stated: Any) -> str:
    text = json.dumps(stated, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
