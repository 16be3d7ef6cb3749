"""
The vectors of active memories: two planes in the rows of `indexed`, or of their forms.

They are those of the first model; its name and dimension stand in `meta`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw

from robot_memory.embedding import quantisation
from robot_memory.embedding.quantisation import Plane, Vector
from robot_memory.storage.indexes import forms, indexed, other_vectors
from robot_memory.storage.indexes.forms import FIRST
from robot_memory.storage.indexes.other_vectors import SecondModel


def model_of(connection: apsw.Connection) -> tuple[str, int] | None:
    """Return the name and the epoch of the model whose vectors the file holds."""
    row = connection.execute(
        "SELECT value ->> 'model', value ->> 'epoch' FROM meta WHERE key = 'vectors'"
    ).fetchone()
    return (row[0], row[1]) if row else None


def get_dimension(connection: apsw.Connection) -> int:
    """Return the dimension of the vectors in the file, 0 where it holds none."""
    row = connection.execute(
        "SELECT value ->> 'dimension' FROM meta WHERE key = 'vectors'"
    ).fetchone()
    return int(row[0]) if row else 0


def use_model(
    connection: apsw.Connection, model: str, dimension: int, same_as: Sequence[str] = ()
) -> int:
    """
    Make this model the first of the file; return how many vectors are missing now.

    Vectors of another model are kept aside: two models' vectors are never compared, unless the
    other is one of those that it is the `same_as`, whose vectors are taken for its own.
    """
    known = model_of(connection)
    if known is None or known[0] != model:
        if known is None or known[0] not in same_as:
            if known is not None:
                other_vectors.keep_first(connection, known[0], get_dimension(connection))
            other_vectors.return_first(connection, model)
        epoch = known[1] + 1 if known else 1
        connection.execute(
            "INSERT OR REPLACE INTO meta (key, value) VALUES ('vectors', ?)",
            (json.dumps({'model': model, 'dimension': dimension, 'epoch': epoch}),),
        )
    return count_missing(connection)


def count_missing(connection: apsw.Connection, most: int = 2**62) -> int:
    """Return how many vectors are missing, of memories and of forms, counting up to `most`."""
    ((count,),) = connection.execute(
        'SELECT count(*) FROM (SELECT 1 FROM indexed INDEXED BY indexed_without_vector'
        ' WHERE coarse IS NULL AND form IS NULL LIMIT ?)',
        (most,),
    )
    return min(int(count) + forms.count(connection, FIRST, 'NULL', most), most)


def has_any(connection: apsw.Connection, collection: str) -> bool:
    """Say whether a memory of a collection has a vector."""
    ((found,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM indexed WHERE collection = ? AND coarse IS NOT NULL)',
        (collection,),
    )
    return bool(found) or forms.has_any(connection, FIRST, collection)


def find_missing(connection: apsw.Connection, limit: int) -> list[tuple[int, str, int]]:
    """Return (id, text, updated_at) of memories, then forms (-id), that wait for a vector."""
    rows: list[Any] = connection.execute(
        'SELECT m.id, m.content, m.updated_at'
        ' FROM indexed AS i INDEXED BY indexed_without_vector'
        ' JOIN memories AS m ON m.id = i.memory_id'
        ' WHERE i.coarse IS NULL AND i.form IS NULL ORDER BY i.memory_id LIMIT ?',
        (limit,),
    ).fetchall()
    found = [(row[0], row[1], row[2]) for row in rows]
    return found or forms.find_missing(connection, FIRST, limit)


def set_vector(connection: apsw.Connection, id: int, updated_at: int, vector: Vector) -> None:
    """Give what waits its vector, if it is still the text that it was made of."""
    if id < 0:
        forms.set_vector(connection, -id, FIRST, vector)
        return
    row = connection.execute(
        'SELECT 1 FROM indexed AS i JOIN memories AS m ON m.id = i.memory_id'
        ' WHERE i.memory_id = ? AND i.coarse IS NULL AND i.form IS NULL AND m.updated_at = ?',
        (id, updated_at),
    ).fetchone()
    if row is not None:
        put(connection, id, vector)


def put(connection: apsw.Connection, memory_id: int, vector: Vector) -> None:
    """Give an indexed memory a vector of its own."""
    ((collection,),) = connection.execute(
        'UPDATE indexed SET coarse = ?, fine = ? WHERE memory_id = ? RETURNING collection',
        (*quantisation.pack(vector), memory_id),
    )
    indexed.record_change(connection, memory_id, collection)


def fetch(connection: apsw.Connection, ids: Sequence[int]) -> dict[int, Vector]:
    """Return the vector of each id that has one."""
    rows: list[Any] = connection.execute(
        'SELECT memory_id, coarse, fine FROM indexed'
        ' WHERE memory_id IN (SELECT value FROM json_each(?)) AND coarse IS NOT NULL',
        (json.dumps(list(ids)),),
    ).fetchall()
    found = quantisation.unpack(rows)
    left = [one for one in ids if one not in found]
    return found | forms.fetch(connection, FIRST, left) if left else found


def fetch_both(
    connection: apsw.Connection, second: SecondModel | None, ids: Sequence[int]
) -> tuple[dict[int, Vector], dict[int, Vector]]:
    """Return the vectors of the first and of a second model, of each id that has one."""
    rows: list[Any] = connection.execute(
        'SELECT i.memory_id, coalesce(i.coarse, f.coarse), coalesce(i.fine, f.fine),'
        ' coalesce(v.coarse, s.coarse), coalesce(v.fine, s.fine) FROM indexed AS i'
        ' LEFT JOIN other_vectors AS v ON v.model = ?1 AND v.memory_id = i.memory_id'
        f' LEFT JOIN form_vectors AS f ON f.form = i.form AND f.model = {FIRST}'
        ' LEFT JOIN form_vectors AS s ON s.form = i.form AND s.model = ?1'
        ' WHERE i.memory_id IN (SELECT value FROM json_each(?2))',
        (None if second is None else second.id, json.dumps(list(ids))),
    ).fetchall()
    return (
        quantisation.unpack([row[:3] for row in rows if row[1] is not None]),
        quantisation.unpack([(row[0], *row[3:]) for row in rows if row[3] is not None]),
    )


def find_nearest(
    connection: apsw.Connection,
    collection: str,
    coarse: Plane,
    limit: int,
    among: Sequence[int] | None = None,
) -> list[int]:
    """Return the ids of those in a collection whose coarse plane is nearest to one, best first."""
    only = '' if among is None else ' AND memory_id IN (SELECT value FROM json_each(?))'
    chosen = () if among is None else (json.dumps(list(among)),)
    own: list[Any] = connection.execute(
        'SELECT vec_distance_cosine(vec_int8(coarse), vec_int8(?)) AS distance, -memory_id'
        f' FROM indexed WHERE collection = ? AND coarse IS NOT NULL{only}'
        ' ORDER BY 1, 2 LIMIT ?',
        (coarse.tobytes(), collection, *chosen, limit),
    ).fetchall()
    shared = forms.find_nearest(connection, FIRST, collection, coarse, limit, among)
    return [-row[1] for row in sorted([*own, *shared])[:limit]]
