"""
What detectors have learned is usual of a robot's joints, as facts about the store.

One a run, so that a recording that is imported again goes on from the same as at first. They are
in no archive: what is usual of one robot means nothing of another, and is learned within minutes.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence
from typing import Any

import apsw

from robot_memory.core.json_text import dump_json
from robot_memory.storage.tables import meta

RUNS = 8
"""Of each robot and its joints those of the newest runs are kept."""
_PREFIX = 'usual_effort'


def put(
    connection: apsw.Connection, whose: Sequence[str], since_ns: int, until_ns: int, learned: Any
) -> None:
    """
    Note what a run has learned by its stamp `until_ns`, in place of what it had before.

    `whose` is the source, the topic, and what else tells joints apart; `learned` is plain JSON.
    """
    begin = f'{_begin_key(whose)}{since_ns:020}.'
    _remove(connection, begin)
    content = zlib.compress(dump_json(learned, 'learned').encode())
    meta.put(connection, f'{begin}{until_ns:020}', content)
    for key in _list_keys(connection, _begin_key(whose))[:-RUNS]:
        connection.execute('DELETE FROM meta WHERE key = ?', (key,))


def find(connection: apsw.Connection, whose: Sequence[str], before_ns: int) -> Any:
    """Return what was learned by the last stamp before another; None where nothing was."""
    ends = [
        (int(key.rpartition('.')[2]), key) for key in _list_keys(connection, _begin_key(whose))
    ]
    before = [one for one in ends if one[0] < before_ns]
    if not before:
        return None
    return json.loads(zlib.decompress(meta.get(connection, max(before)[1])))


def is_any(connection: apsw.Connection, source: str, topic: str) -> bool:
    """Say whether anything that was learned of the joints of a topic is there."""
    return bool(_list_keys(connection, _begin_topic(source, topic)))


def remove(connection: apsw.Connection, source: str, topic: str) -> None:
    """Remove all that was learned of the joints of a topic."""
    _remove(connection, _begin_topic(source, topic))


def _begin_topic(source: str, topic: str) -> str:
    return f'{_PREFIX}.{_hash([source, topic])}.'


def _begin_key(whose: Sequence[str]) -> str:
    source, topic, *joints = whose
    return f'{_begin_topic(source, topic)}{_hash(joints)}.'


def _hash(names: Sequence[str]) -> str:
    return hashlib.sha256(dump_json(list(names)).encode()).hexdigest()[:16]


def _list_keys(connection: apsw.Connection, begin: str) -> list[str]:
    """Return keys by their beginning, which ends in a full stop, in the order of their runs."""
    rows = connection.execute(
        'SELECT key FROM meta WHERE key >= ? AND key < ? ORDER BY key', (begin, f'{begin[:-1]}/')
    )
    return [row[0] for row in rows]


def _remove(connection: apsw.Connection, begin: str) -> None:
    for key in _list_keys(connection, begin):
        connection.execute('DELETE FROM meta WHERE key = ?', (key,))
