"""
Vectors of models beside the first one, whose vectors stand in `indexed`.

One of them is the second model, which is asked together with the first about texts in its
languages; `meta` names it. The vectors of others are kept, and asked again once their model is
back. A row without planes is a memory that waits for its vector. Those of forms are in `forms`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.embedding import quantisation
from robot_memory.embedding.quantisation import Plane, Vector
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.storage.indexes import forms, indexed
from robot_memory.text.language import find_language

_KEY = 'second_vectors'


@dataclass(frozen=True)
class SecondModel:
    """
    Hold which model is the second, and what it is asked about.

    `scanned` is the last memory of which it is known whether it waits for a vector; `epoch`
    changes with the model.
    """

    id: int
    name: str
    languages: tuple[str, ...]
    turns: bool
    scanned: int
    epoch: int

    def takes(self, type: str, content: str) -> bool:
        """Say whether the model is asked about a memory."""
        return (self.turns or type != 'turn') and find_language(content) in self.languages


def find_second(connection: apsw.Connection) -> SecondModel | None:
    """Return the second model of the file, None where it has none."""
    row = connection.execute('SELECT value FROM meta WHERE key = ?', (_KEY,)).fetchone()
    if row is None:
        return None
    found: dict[str, Any] = json.loads(row[0])
    return SecondModel(**{**found, 'languages': tuple(found['languages'])})


def use_second(
    connection: apsw.Connection, name: str, dimension: int, languages: Sequence[str], turns: bool
) -> None:
    """Make a model the second of the file; vectors of the one before it are kept."""
    known = find_second(connection)
    if known is not None and known.name == name:
        return
    model = register(connection, name, dimension)
    epoch = known.epoch + 1 if known else 1
    _write(connection, SecondModel(model, name, tuple(languages), turns, 0, epoch))


def register(connection: apsw.Connection, name: str, dimension: int) -> int:
    """Return the number of a model beside the first one, new or known."""
    connection.execute(
        'INSERT INTO models (name, dimension) VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
        (name, dimension),
    )
    ((model,),) = connection.execute('SELECT id FROM models WHERE name = ?', (name,))
    return int(model)


def put(
    connection: apsw.Connection,
    memory_id: int,
    type: str,
    partition: str,
    content: str,
    vectors: TextVectors | None,
) -> None:
    """Give an active memory its vector of the second model, or note that it waits for one."""
    second = find_second(connection)
    if second is None or not second.takes(type, content):
        return
    vector = _choose(second, vectors)
    planes = (None, None) if vector is None else quantisation.pack(vector)
    connection.execute(
        'INSERT INTO other_vectors (model, memory_id, collection, coarse, fine)'
        ' VALUES (?, ?, ?, ?, ?) ON CONFLICT (model, memory_id) DO NOTHING',
        (second.id, memory_id, partition, *planes),
    )


def put_form(
    connection: apsw.Connection,
    form: int,
    known: Collection[int],
    type: str,
    text: str,
    vectors: TextVectors | None,
) -> None:
    """Give a form its vector of the second model unless it is known, or note that it waits."""
    second = find_second(connection)
    if second is not None and second.id not in known and second.takes(type, text):
        forms.put(connection, form, second.id, _choose(second, vectors))


def _choose(second: SecondModel, vectors: TextVectors | None) -> Vector | None:
    """Return the vector of the second model, None where there is none or it is of another."""
    return vectors.second if vectors is not None and vectors.second_model == second.name else None


def remove(connection: apsw.Connection, memory_id: int) -> None:
    """Remove what all models made of a memory."""
    connection.execute(
        'DELETE FROM other_vectors WHERE memory_id = ? AND model IN (SELECT id FROM models)',
        (memory_id,),
    )


def scan(connection: apsw.Connection, second: SecondModel, limit: int) -> bool:
    """Note which of the next memories wait for a vector; return False when all are known."""
    rows: list[Any] = connection.execute(
        'SELECT m.id, m.type, i.collection, m.content, i.form FROM indexed AS i'
        ' JOIN memories AS m ON m.id = i.memory_id'
        ' WHERE i.memory_id > ? ORDER BY i.memory_id LIMIT ?',
        (second.scanned, limit),
    ).fetchall()
    if not rows:
        return False
    connection.executemany(
        'INSERT INTO other_vectors (model, memory_id, collection) VALUES (?, ?, ?)'
        ' ON CONFLICT (model, memory_id) DO NOTHING',
        [
            (second.id, memory_id, collection)
            for memory_id, type, collection, content, form in rows
            if form is None and second.takes(type, content)
        ],
    )
    for form, type, content in {row[4]: (row[4], row[1], row[3]) for row in rows}.values():
        if form is not None and second.takes(type, content):
            forms.put(connection, form, second.id, None)
    _write(connection, SecondModel(**{**vars(second), 'scanned': rows[-1][0]}))
    return True


def scan_anew(connection: apsw.Connection) -> None:
    """Have `scan` look at all memories once more."""
    second = find_second(connection)
    if second is not None:
        _write(connection, SecondModel(**{**vars(second), 'scanned': 0}))


def is_scanned(connection: apsw.Connection, second: SecondModel) -> bool:
    """Say whether it is known of all memories whether they wait for a vector."""
    ((more,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM indexed WHERE memory_id > ?)', (second.scanned,)
    )
    return not more


def find_missing(
    connection: apsw.Connection, second: SecondModel, limit: int
) -> list[tuple[int, str, int]]:
    """Return (id, text, updated_at) of memories, then forms (-id), that wait for a vector."""
    rows: list[Any] = connection.execute(
        'SELECT m.id, m.content, m.updated_at FROM other_vectors AS v'
        ' JOIN memories AS m ON m.id = v.memory_id'
        ' WHERE v.model = ? AND v.coarse IS NULL ORDER BY v.memory_id LIMIT ?',
        (second.id, limit),
    ).fetchall()
    found = [(row[0], row[1], row[2]) for row in rows]
    return found or forms.find_missing(connection, second.id, limit)


def set_vector(
    connection: apsw.Connection,
    second: SecondModel,
    id: int,
    updated_at: int,
    vector: Vector,
) -> None:
    """Give what waits its vector, if it is still the text that it was made of."""
    if id < 0:
        forms.set_vector(connection, -id, second.id, vector)
        return
    changed: list[Any] = connection.execute(
        'UPDATE other_vectors SET coarse = ?, fine = ?'
        ' WHERE model = ? AND memory_id = ? AND coarse IS NULL'
        ' AND EXISTS (SELECT 1 FROM memories WHERE id = ? AND updated_at = ?)'
        ' RETURNING collection',
        (*quantisation.pack(vector), second.id, id, id, updated_at),
    ).fetchall()
    for (collection,) in changed:
        indexed.record_change(connection, id, collection)


def count(connection: apsw.Connection, most: int = 2**62) -> dict[str, tuple[int, int]]:
    """Return by model how many vectors there are and how many are missing, up to `most` each."""
    return {
        name: (
            _count(connection, model, 'NOT NULL', most),
            _count(connection, model, 'NULL', most),
        )
        for model, name in connection.execute('SELECT id, name FROM models ORDER BY id')
    }


def count_missing(connection: apsw.Connection, most: int = 2**62) -> int:
    """Return how many memories wait for a vector of the second model, up to `most`."""
    second = find_second(connection)
    return 0 if second is None else _count(connection, second.id, 'NULL', most)


def _count(connection: apsw.Connection, model: int, what: str, most: int) -> int:
    ((found,),) = connection.execute(
        'SELECT count(*) FROM (SELECT 1 FROM other_vectors'
        f' WHERE model = ? AND coarse IS {what} LIMIT ?)',
        (model, most),
    )
    return min(int(found) + forms.count(connection, model, what, most), most)


def has_any(connection: apsw.Connection, second: SecondModel, partition: str) -> bool:
    """Say whether a memory of a partition has a vector of the second model."""
    ((found,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM other_vectors'
        ' WHERE model = ? AND collection = ? AND coarse IS NOT NULL)',
        (second.id, partition),
    )
    return bool(found) or forms.has_any(connection, second.id, partition)


def find_nearest(
    connection: apsw.Connection,
    second: SecondModel,
    partition: str,
    query: Plane,
    limit: int,
    among: Sequence[int] | None = None,
) -> list[int]:
    """Return the ids of the nearest in a partition by the coarse plane, best first."""
    only = '' if among is None else ' AND memory_id IN (SELECT value FROM json_each(?))'
    chosen = () if among is None else (json.dumps(list(among)),)
    own: list[Any] = connection.execute(
        'SELECT vec_distance_cosine(vec_int8(coarse), vec_int8(?)) AS distance, -memory_id'
        f' FROM other_vectors WHERE model = ? AND collection = ? AND coarse IS NOT NULL{only}'
        ' ORDER BY 1, 2 LIMIT ?',
        (query.tobytes(), second.id, partition, *chosen, limit),
    ).fetchall()
    shared = forms.find_nearest(connection, second.id, partition, query, limit, among)
    return [-row[1] for row in sorted([*own, *shared])[:limit]]


def _write(connection: apsw.Connection, second: SecondModel) -> None:
    connection.execute(
        'INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)',
        (_KEY, json.dumps({**vars(second), 'languages': list(second.languages)})),
    )


# What was the first model


def keep_first(connection: apsw.Connection, name: str, dimension: int) -> None:
    """Move the vectors of the first model here, before another one takes its place."""
    model = register(connection, name, dimension)
    connection.execute(
        'INSERT OR REPLACE INTO other_vectors (model, memory_id, collection, coarse, fine)'
        ' SELECT ?, memory_id, collection, coarse, fine FROM indexed WHERE coarse IS NOT NULL',
        (model,),
    )
    connection.execute('UPDATE indexed SET coarse = NULL, fine = NULL WHERE coarse IS NOT NULL')
    forms.keep_first(connection, model)


def return_first(connection: apsw.Connection, name: str) -> None:
    """Move the vectors of a model that becomes the first to `indexed`."""
    row = connection.execute('SELECT id FROM models WHERE name = ?', (name,)).fetchone()
    if row is None:
        return
    connection.execute(
        'UPDATE indexed SET coarse = v.coarse, fine = v.fine FROM other_vectors AS v'
        ' WHERE v.model = ? AND v.memory_id = indexed.memory_id AND v.coarse IS NOT NULL',
        row,
    )
    forms.return_first(connection, row[0])
    connection.execute('DELETE FROM other_vectors WHERE model = ?', row)
    connection.execute('DELETE FROM models WHERE id = ?', row)
    second = find_second(connection)
    if second is not None and second.id == row[0]:
        connection.execute('DELETE FROM meta WHERE key = ?', (_KEY,))
