"""
Schema version 20: one vector for all events of which a detector says the same but for figures.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import apsw

_NUMBER = re.compile(r'(?<![\w.])\d+(?:\.\d+)?(?![\w])')


def upgrade(connection: apsw.Connection) -> None:
    """Create the tables of forms; vectors that are the same of a whole form move there."""
    connection.execute("""
        -- The sentence itself is in its memories alone.
        CREATE TABLE forms (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            collection TEXT NOT NULL,
            digest BLOB NOT NULL UNIQUE
        );
        CREATE INDEX forms_by_collection ON forms (collection);
        -- Model 0 is the first one; without planes a form waits for its vector.
        CREATE TABLE form_vectors (
            form INTEGER NOT NULL REFERENCES forms (id),
            model INTEGER NOT NULL,
            coarse BLOB,
            fine BLOB,
            PRIMARY KEY (form, model)
        ) WITHOUT ROWID;
        CREATE INDEX form_vectors_missing ON form_vectors (model, form) WHERE coarse IS NULL;
        ALTER TABLE indexed ADD COLUMN form INTEGER;
        CREATE INDEX indexed_by_form ON indexed (form) WHERE form IS NOT NULL;
        DROP INDEX indexed_without_vector;
        CREATE INDEX indexed_without_vector ON indexed (memory_id)
            WHERE coarse IS NULL AND form IS NULL;
    """)
    _find_forms(connection)
    _move_vectors(connection)


def _find_forms(connection: apsw.Connection) -> None:
    """Give the detectors' events their forms, but for those whose text was changed."""
    connection.create_scalar_function('digest_form', _digest_form, 2, deterministic=True)
    connection.execute("""
        CREATE TEMP TABLE of_form AS
            SELECT i.memory_id, i.collection, digest_form(i.collection, m.content) AS digest
            FROM indexed AS i JOIN memories AS m ON m.id = i.memory_id
            WHERE m.type = 'perception' AND json_type(m.context, '$.sense.detector') = 'text'
                AND NOT EXISTS (SELECT 1 FROM revisions AS r
                    WHERE r.memory_id = m.id AND r.content <> m.content);
        INSERT INTO forms (collection, digest)
            SELECT collection, digest FROM of_form GROUP BY digest ORDER BY min(memory_id);
        UPDATE indexed SET form = f.id FROM temp.of_form AS o JOIN forms AS f
            ON f.digest = o.digest WHERE o.memory_id = indexed.memory_id;
        DROP TABLE temp.of_form;
    """)
    connection.create_scalar_function('digest_form', None, 2)


def _digest_form(*values: Any) -> Any:
    collection, content = values
    form = _NUMBER.sub('1', content)
    return hashlib.blake2b(f'{collection}\0{form}'.encode(), digest_size=16).digest()


def _move_vectors(connection: apsw.Connection) -> None:
    """Keep a form's vectors where all its memories have the same; else it waits for new ones."""
    connection.execute(f"""
        INSERT INTO form_vectors (form, model, coarse, fine)
            SELECT v.form, 0, {_choose_same('coarse')}, {_choose_same('fine')}
            FROM indexed AS v WHERE v.form IS NOT NULL GROUP BY v.form;
        INSERT INTO form_vectors (form, model, coarse, fine)
            SELECT i.form, v.model, {_choose_same('coarse')}, {_choose_same('fine')}
            FROM other_vectors AS v JOIN indexed AS i ON i.memory_id = v.memory_id
            WHERE i.form IS NOT NULL GROUP BY i.form, v.model;
        DELETE FROM other_vectors
            WHERE memory_id IN (SELECT memory_id FROM indexed WHERE form IS NOT NULL);
        UPDATE indexed SET coarse = NULL, fine = NULL WHERE form IS NOT NULL;
        -- What perceptions take is added up anew.
        DELETE FROM sizes WHERE name IN ('perceptions', 'perceptions until');
    """)


def _choose_same(plane: str) -> str:
    """Return as SQL the plane that all of a group have, NULL where they differ."""
    same = 'min(v.coarse) = max(v.coarse) AND min(v.fine) = max(v.fine)'
    return f'iif({same}, min(v.{plane}), NULL)'
