"""
Situations of trials: a vector for each distinct text and model; the text is in its memories alone.

A situation is there while a trial has it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import apsw
import numpy as np

from robot_memory.embedding.quantisation import Vector

_DIGEST_BYTES = 16


def digest(text: str) -> bytes:
    """Return what a situation is known by."""
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest()


def intern(connection: apsw.Connection, text: str) -> int:
    """Return the id of a situation, a new one where it has none."""
    found = _find(connection, text)
    if found is not None:
        return found
    connection.execute('INSERT INTO situations (digest) VALUES (?)', (digest(text),))
    return connection.last_insert_rowid()


def _find(connection: apsw.Connection, text: str) -> int | None:
    row = connection.execute(
        'SELECT id FROM situations WHERE digest = ?', (digest(text),)
    ).fetchone()
    return None if row is None else int(row[0])


def get_vector(connection: apsw.Connection, text: str, model: str) -> Vector | None:
    """Return the vector of a situation by a model, None where it has none."""
    row = connection.execute(
        'SELECT v.vector FROM situations AS s JOIN situation_vectors AS v ON v.situation = s.id'
        ' WHERE s.digest = ? AND v.model = ?',
        (digest(text), model),
    ).fetchone()
    return None if row is None else np.frombuffer(row[0], np.float32)


def put_vector(connection: apsw.Connection, text: str, model: str, vector: Vector) -> None:
    """Give a situation that is there the vector that a model made of it."""
    connection.execute(
        'INSERT OR IGNORE INTO situation_vectors (situation, model, vector)'
        ' SELECT id, ?, ? FROM situations WHERE digest = ?',
        (model, np.ascontiguousarray(vector, np.float32).tobytes(), digest(text)),
    )


def read_vectors(
    connection: apsw.Connection, ids: Iterable[int], model: str
) -> Mapping[int, tuple[bytes, Vector | None]]:
    """Return digests, and vectors by a model where there are any, by the ids of situations."""
    rows: list[Any] = connection.execute(
        'SELECT s.id, s.digest, v.vector FROM situations AS s LEFT JOIN situation_vectors AS v'
        ' ON v.situation = s.id AND v.model = ? WHERE s.id IN (SELECT value FROM json_each(?))',
        (model, json.dumps(sorted(set(ids)))),
    ).fetchall()
    return {
        found: (known, None if blob is None else np.frombuffer(blob, np.float32))
        for found, known, blob in rows
    }


def find_missing(connection: apsw.Connection, model: str, limit: int) -> list[str]:
    """Return the texts of situations that have no vector by a model."""
    rows: list[Any] = connection.execute(
        "SELECT DISTINCT m.context ->> '$.trial.situation' FROM situations AS s"
        ' JOIN trials AS t ON t.situation = s.id JOIN memories AS m ON m.id = t.memory_id'
        ' WHERE NOT EXISTS (SELECT 1 FROM situation_vectors WHERE situation = s.id AND model = ?)'
        ' LIMIT ?',
        (model, limit),
    ).fetchall()
    return [text for (text,) in rows if text]


def release(connection: apsw.Connection, situation: int) -> None:
    """Remove a situation and its vectors if no trial has it any more."""
    ((used,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM trials WHERE situation = ?)', (situation,)
    )
    if not used:
        connection.execute('DELETE FROM situation_vectors WHERE situation = ?', (situation,))
        connection.execute('DELETE FROM situations WHERE id = ?', (situation,))
