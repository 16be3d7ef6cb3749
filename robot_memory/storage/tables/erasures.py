"""
Rows of erasures: what was erased, how far its proof is, and the receipt.

An erasure is `pending` from the transaction that removes the rows on, `cleaning` while its words
are removed and the proof is not yet given, and `done` with its receipt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.clock import format_instant
from robot_memory.core.errors import NotFound
from robot_memory.storage import epochs
from robot_memory.storage.tables import audit, meta, writers
from robot_memory.storage.tables.erased_texts import Sought


@dataclass(frozen=True)
class Erasure:
    """
    Hold an erasure; `words` are what its proof looks for, None once they are removed.

    `items` are ids by table, `digests` SHA-256 of texts with a salt that only the caller has.
    """

    id: int
    state: str
    at: int
    reason: str
    items: dict[str, list[int]]
    counts: dict[str, int]
    digests: tuple[str, ...]
    words: Sought | None
    waits_for: str
    receipt: dict[str, Any] | None
    writer: Writer


_READ = (
    'SELECT e.id, e.state, {at}, e.reason, e.items, e.counts, e.digests, e.words, e.waits_for,'
    f' e.receipt, {writers.COLUMNS} FROM erasures AS e JOIN writers AS w ON w.id = e.writer_id'
).format(at=epochs.correct('e.at', 'e.epoch'))


def begin(connection: apsw.Connection, writer: Writer, reason: str, at: int) -> int:
    """Insert an erasure that takes nothing yet; return its id."""
    connection.execute(
        'INSERT INTO erasures (state, at, epoch, writer_id, reason, items, counts, digests)'
        f" VALUES ('pending', ?, {epochs.NEWEST}, ?, ?, '{{}}', '{{}}', '[]')",
        (at, writers.get_id(connection, writer), reason),
    )
    return connection.last_insert_rowid()


def describe(
    connection: apsw.Connection,
    erasure: int,
    items: Mapping[str, list[int]],
    counts: Mapping[str, int],
    digests: list[str],
    words: Sought,
) -> None:
    """Note what an erasure took, and what its proof looks for."""
    connection.execute(
        'UPDATE erasures SET items = ?, counts = ?, digests = ?, words = ? WHERE id = ?',
        (
            json.dumps(items),
            json.dumps(counts),
            json.dumps(digests),
            json.dumps(words._asdict(), ensure_ascii=False),
            erasure,
        ),
    )


def remove_words(connection: apsw.Connection, erasure: int) -> None:
    """Remove what the proof looks for: it must not find it here."""
    connection.execute(
        "UPDATE erasures SET words = NULL, state = 'cleaning' WHERE id = ? AND state <> 'done'",
        (erasure,),
    )


def remove_all_words(connection: apsw.Connection) -> bool:
    """
    Remove from a copy of a store what the proofs of its erasures look for; say if there was any.

    The copy is written anew: what SQLite moved within pages leaves no words between rows.
    """
    connection.execute('UPDATE erasures SET words = NULL WHERE words IS NOT NULL')
    if not connection.changes():
        return False
    connection.execute('VACUUM')
    return True


def has_words(connection: apsw.Connection) -> bool:
    """Say whether a store of any schema holds what a proof looks for."""
    ((is_there,),) = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'erasures')"
    )
    if not is_there:
        return False
    row = connection.execute('SELECT 1 FROM erasures WHERE words IS NOT NULL LIMIT 1').fetchone()
    return row is not None


def wait(connection: apsw.Connection, erasure: int, waits_for: str) -> None:
    """Note what an erasure waits for."""
    connection.execute(
        "UPDATE erasures SET waits_for = ? WHERE id = ? AND state <> 'done'", (waits_for, erasure)
    )


def finish(connection: apsw.Connection, erasure: int, receipt: Mapping[str, Any]) -> None:
    """Write the receipt of an erasure whose checks hold."""
    connection.execute(
        "UPDATE erasures SET state = 'done', waits_for = '', words = NULL, receipt = ?"
        " WHERE id = ? AND state <> 'done'",
        (json.dumps(receipt), erasure),
    )


def drop(connection: apsw.Connection, erasure: int) -> None:
    """Remove an erasure that took nothing."""
    connection.execute('DELETE FROM erasures WHERE id = ?', (erasure,))


def get(connection: apsw.Connection, erasure: int) -> Erasure:
    """Return an erasure; raise NotFound."""
    row = connection.execute(f'{_READ} WHERE e.id = ?', (erasure,)).fetchone()
    if row is None:
        raise NotFound(f'no erasure {erasure}; erase returns ids of erasures')
    return _make(row)


def describe_erased(connection: apsw.Connection, memory_id: int) -> str:
    """Return when a memory or folded event was erased, by whom and why; '' where it was not."""
    lines = [line for line in audit.read_lines(connection, memory_id) if line.action == 'erased']
    if lines:
        at, who, reason = lines[-1].at, lines[-1].actor, lines[-1].reason
    else:
        row = connection.execute(
            'SELECT erasure FROM tombstones WHERE first_id = ? AND store_id = ?',
            (memory_id, meta.get_store_id(connection)),
        ).fetchone()
        if row is None:
            return ''
        found = get(connection, row[0])
        at, who, reason = found.at, found.writer.label, found.reason
    why = f' ({reason})' if reason else ''
    return f'on {format_instant(at)} by {who}{why}'


def find_unfinished(connection: apsw.Connection) -> Erasure | None:
    """Return the oldest erasure that has no receipt yet."""
    row = connection.execute(f"{_READ} WHERE e.state <> 'done' ORDER BY e.id LIMIT 1").fetchone()
    return None if row is None else _make(row)


def list_all(connection: apsw.Connection) -> list[Erasure]:
    """Return all erasures, the oldest first."""
    return [_make(row) for row in connection.execute(f'{_READ} ORDER BY e.id')]


def carry_over(connection: apsw.Connection, known: Erasure | None) -> int:
    """Insert an erasure of another store, None where it is not known; return its id."""
    if known is None:
        erasure = begin(connection, Writer('restore'), 'of a store that was replaced', 0)
        finish(connection, erasure, {})
        return erasure
    erasure = begin(connection, known.writer, known.reason, known.at)
    describe(connection, erasure, {}, known.counts, [*known.digests], Sought([]))
    finish(connection, erasure, known.receipt or {})
    return erasure


def get_last(connection: apsw.Connection) -> int:
    """Return the id of the last erasure, 0 where there is none."""
    ((last,),) = connection.execute('SELECT coalesce(max(id), 0) FROM erasures')
    return int(last)


def _make(row: tuple[Any, ...]) -> Erasure:
    number, state, at, reason, items, counts, digests, words, waits_for, receipt, *writer = row
    return Erasure(
        number,
        state,
        at,
        reason,
        json.loads(items),
        json.loads(counts),
        tuple(json.loads(digests)),
        _read_words(words),
        waits_for,
        None if receipt is None else json.loads(receipt),
        Writer(*writer),
    )


def _read_words(text: str | None) -> Sought | None:
    """Return what a proof looks for; earlier releases stored the words alone."""
    if text is None:
        return None
    told = json.loads(text)
    return Sought(told) if isinstance(told, list) else Sought(**told)
