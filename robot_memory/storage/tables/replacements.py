"""
Rows of replacements: which memory replaces, or disagrees with, which.

Both stay active. A link counts while both are, and until an audit line ends it; one that is not
`settled` says that they disagree, until one who may decides.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.records import Links, Replaced, describe_writer
from robot_memory.storage import epochs
from robot_memory.storage.tables import audit, revisions, writers

ACTION = 'replaced'
_STANDING = (
    'r.ended_by IS NULL AND n.id = r.replacing_id AND o.id = r.replaced_id'
    " AND n.status = 'active' AND o.status = 'active'"
)
_HAS_ANY = (
    'SELECT 1 FROM replacements WHERE replacing_id IN (SELECT value FROM json_each(?1)) UNION ALL'
    ' SELECT 1 FROM replacements WHERE replaced_id IN (SELECT value FROM json_each(?1)) LIMIT 1'
)
_AT = epochs.correct('a.at', 'a.epoch')


def replace(
    connection: apsw.Connection, replacing_id: int, replaced_id: int, writer: Writer, at: int
) -> None:
    """Let an active memory replace another, with an audit line that undo takes back."""
    reason = f'replaced by memory {replacing_id}'
    detail = {'replaced_by': replacing_id}
    with revisions.changing(connection, replaced_id, ACTION, writer, reason, detail, at):
        pass
    line = audit.get_head(connection).id
    end(connection, replacing_id, replaced_id, line)
    insert(connection, replacing_id, replaced_id, line, settled=True)


def insert(
    connection: apsw.Connection, replacing_id: int, replaced_id: int, line: int, *, settled: bool
) -> None:
    """Insert that one memory replaces another, or that they disagree, by an audit line."""
    connection.execute(
        'INSERT INTO replacements (replacing_id, replaced_id, audit_id, settled)'
        ' VALUES (?, ?, ?, ?)',
        (replacing_id, replaced_id, line, settled),
    )


def end(connection: apsw.Connection, one: int, other: int, line: int) -> None:
    """End what links two memories, whichever replaces the other."""
    connection.execute(
        'UPDATE replacements SET ended_by = ?1 WHERE ended_by IS NULL AND'
        ' ((replacing_id = ?2 AND replaced_id = ?3) OR (replacing_id = ?3 AND replaced_id = ?2))',
        (line, one, other),
    )


def end_all(connection: apsw.Connection, memory_id: int, line: int) -> None:
    """End all links of a memory that an audit line gave another text."""
    connection.execute(
        'UPDATE replacements SET ended_by = ?1 WHERE ended_by IS NULL'
        ' AND (replacing_id = ?2 OR replaced_id = ?2)',
        (line, memory_id),
    )


def undo(connection: apsw.Connection, memory_id: int, line: int, undoing: int) -> None:
    """Let the links of a memory stand again that an audit line ended, and end those it made."""
    connection.execute(
        'INSERT INTO replacements (replacing_id, replaced_id, audit_id, settled)'
        ' SELECT replacing_id, replaced_id, ?3, settled FROM replacements'
        ' WHERE ended_by = ?2 AND (replacing_id = ?1 OR replaced_id = ?1)',
        (memory_id, line, undoing),
    )
    connection.execute(
        'UPDATE replacements SET ended_by = ? WHERE audit_id = ? AND ended_by IS NULL'
        ' AND (replacing_id = ? OR replaced_id = ?)',
        (undoing, line, memory_id, memory_id),
    )


def find_current(connection: apsw.Connection, memory_id: int) -> int | None:
    """Return which active memory replaces an active one; None where none does."""
    row = connection.execute(
        'SELECT n.id FROM replacements AS r, memories AS n, memories AS o'
        f' WHERE r.replaced_id = ? AND r.settled AND {_STANDING} ORDER BY r.id DESC LIMIT 1',
        (memory_id,),
    ).fetchone()
    return None if row is None else int(row[0])


def are_linked(connection: apsw.Connection, one: int, other: int) -> bool:
    """Say whether one of two memories replaces the other, or they disagree."""
    row = connection.execute(
        'SELECT 1 FROM replacements WHERE ended_by IS NULL AND'
        ' ((replacing_id = ?1 AND replaced_id = ?2) OR (replacing_id = ?2 AND replaced_id = ?1))',
        (one, other),
    ).fetchone()
    return row is not None


def read(connection: apsw.Connection, ids: Iterable[int]) -> dict[int, Links]:
    """Return the links of those of some active memories that have any."""
    asked = json.dumps(list(ids))
    if connection.execute(_HAS_ANY, (asked,)).fetchone() is None:
        return {}
    rows: list[Any] = connection.execute(
        f'SELECT n.id, o.id, r.settled, o.content, {_AT}, {writers.COLUMNS}'
        ' FROM replacements AS r, memories AS n, memories AS o, audit AS a'
        ' JOIN writers AS w ON w.id = a.writer_id WHERE a.id = r.audit_id'
        ' AND (r.replacing_id IN (SELECT value FROM json_each(?1))'
        f' OR r.replaced_id IN (SELECT value FROM json_each(?1))) AND {_STANDING} ORDER BY r.id',
        (asked,),
    ).fetchall()
    replaces: dict[int, Replaced] = {}
    replaced_by: dict[int, int] = {}
    disagrees: dict[int, list[int]] = defaultdict(list)
    for new, old, settled, content, at, *writer in rows:
        if settled:
            replaces[new] = Replaced(old, content, describe_writer(Writer(*writer)), at)
            replaced_by[old] = new
        else:
            disagrees[new].append(old)
            disagrees[old].append(new)
    return {
        each: Links(replaces.get(each), replaced_by.get(each), tuple(disagrees.get(each, ())))
        for each in {*replaces, *replaced_by, *disagrees}
    }


def list_replaced(connection: apsw.Connection, memory_id: int) -> list[dict[str, Any]]:
    """Return what a memory replaces or disagrees with, as an archive holds it."""
    rows = connection.execute(
        'SELECT replaced_id, settled FROM replacements WHERE replacing_id = ?'
        ' AND ended_by IS NULL ORDER BY id',
        (memory_id,),
    )
    return [{'memory': old, 'settled': bool(settled)} for old, settled in rows]
