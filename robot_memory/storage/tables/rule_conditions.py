"""
The condition of each rule, read from its text: derived rows, written with the rule.

A row holds for the text and the version of the reader that it was made by. Where there is no such
row, the condition is read anew from the text, so a lost or stale row changes no rule. A fact that
is no rule has a row where it may be one: nothing else tells that, so if the row is lost the fact
is as any other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import apsw

from robot_memory.core.records import Record
from robot_memory.text import tokenizer
from robot_memory.text.categories import PROTECTED
from robot_memory.text.rules.conditions import Condition

_FITS = 'r.content_hash = m.content_hash AND r.version = ?'
_ARE_FACTS = "m.type = 'fact' AND m.status = 'active'"
_RULES = tuple(sorted(PROTECTED))
_IN_RULES = f'IN ({", ".join("?" * len(_RULES))})'
_ARE_RULES = f"{_ARE_FACTS} AND m.category <> 'observation' AND m.category {_IN_RULES}"


class Row(NamedTuple):
    """Hold the condition of a rule, and the hash of its text."""

    memory_id: int
    condition: Condition
    content_hash: bytes


def put(
    connection: apsw.Connection, memory_id: int, record: Record, *, may_be_rule: bool = False
) -> None:
    """Keep the condition of a memory that is a rule, or of a fact that may be one."""
    if record.type == 'fact' and (may_be_rule or record.category in PROTECTED):
        _put(connection, memory_id, record.content)


def replace(
    connection: apsw.Connection, memory_id: int, record: Record, *, may_be_rule: bool = False
) -> None:
    """Do the same for a memory whose text or category has become another."""
    connection.execute('DELETE FROM rule_conditions WHERE memory_id = ?', (memory_id,))
    put(connection, memory_id, record, may_be_rule=may_be_rule)


def find_possible(connection: apsw.Connection, collection: str) -> list[int]:
    """Return the active facts of a collection that are no rules, but may be."""
    rows: Any = connection.execute(
        'SELECT m.id FROM rule_conditions AS r CROSS JOIN memories AS m ON m.id = r.memory_id'
        f' WHERE {_ARE_FACTS} AND m.collection = ? AND r.content_hash = m.content_hash'
        f' AND m.category NOT {_IN_RULES} ORDER BY m.id',
        (collection, *_RULES),
    )
    return [row[0] for row in rows]


def _put(connection: apsw.Connection, memory_id: int, content: str) -> None:
    from robot_memory.text.rules import reader  # here: what reads rules is large

    connection.execute(
        'INSERT OR REPLACE INTO rule_conditions (memory_id, content_hash, version, condition)'
        ' VALUES (?, ?, ?, ?)',
        (
            memory_id,
            tokenizer.hash_content(content),
            reader.VERSION,
            json.dumps(reader.read_rule(content), ensure_ascii=False),
        ),
    )


def get(connection: apsw.Connection, ids: Iterable[int]) -> list[Row]:
    """Return the conditions of memories, by id."""
    from robot_memory.text.rules import reader  # here: what reads rules is large

    rows = connection.execute(
        'SELECT m.id, r.condition, iif(r.condition IS NULL, m.content, NULL), m.content_hash'
        ' FROM memories AS m'
        f' LEFT JOIN rule_conditions AS r ON r.memory_id = m.id AND {_FITS}'
        ' WHERE m.id IN (SELECT value FROM json_each(?)) ORDER BY m.id',
        (reader.VERSION, json.dumps(list(ids))),
    )
    return [
        Row(
            memory_id,
            reader.read_rule(content) if condition is None else json.loads(condition),
            content_hash,
        )
        for memory_id, condition, content, content_hash in rows
    ]


def refresh(connection: apsw.Connection) -> int:
    """Write the rows that are missing or stale, remove those of other texts; return how many."""
    from robot_memory.text.rules import reader  # here: what reads rules is large

    connection.execute(
        'DELETE FROM rule_conditions AS r WHERE NOT EXISTS (SELECT 1 FROM memories AS m'
        f' WHERE m.id = r.memory_id AND {_ARE_FACTS} AND r.content_hash = m.content_hash)'
    )
    removed = connection.changes()
    stale: list[Any] = connection.execute(
        'SELECT m.id, m.content FROM memories AS m'
        f' LEFT JOIN rule_conditions AS r ON r.memory_id = m.id AND {_FITS}'
        f' WHERE {_ARE_RULES} AND r.memory_id IS NULL'
        ' UNION SELECT m.id, m.content FROM rule_conditions AS r JOIN memories AS m'
        ' ON m.id = r.memory_id WHERE r.version <> ?',
        (reader.VERSION, *_RULES, reader.VERSION),
    ).fetchall()
    for memory_id, content in stale:
        _put(connection, memory_id, content)
    return removed + len(stale)
