"""Where the name of an actor whose memories are erased still stands: in what others left."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import apsw

from robot_memory.storage.tables.doomed import Doomed
from robot_memory.text.tokenizer import fold

_OF_MEMORIES = (
    'SELECT m.id, NULL, m.content, m.context, m.tags, m.scope_files, m.collection, p.data,'
    ' p.metadata FROM memories AS m LEFT JOIN payloads AS p ON p.memory_id = m.id'
    ' WHERE m.actor_id IS NOT ?'
)
_OF_PARTS = {
    'revisions': 'SELECT memory_id, id, content, context, tags, scope_files FROM revisions',
    'observations': 'SELECT memory_id, id, text, context FROM observations',
    'proposals': 'SELECT memory_id, id, content, context, reason FROM proposals',
    'lines': 'SELECT memory_id, id, reason, detail FROM audit WHERE memory_id IN'
    " (SELECT id FROM memories) AND (reason <> '' OR detail <> '{}')",
}
"""What a memory has beside its row: its id, that of the part, and its texts."""
_SPELLED = str.maketrans({'ä': 'ae', 'ö': 'oe', 'ü': 'ue', 'å': 'aa', 'ø': 'oe', 'æ': 'ae'})
_MARKS = ('\u0300', '\u036f')


@dataclass(frozen=True)
class Mentions:
    """Hold memories that name an actor, and sessions and collections with where they do."""

    memories: list[int] = field(default_factory=list)
    sessions: dict[str, str] = field(default_factory=dict)
    collections: list[str] = field(default_factory=list)

    def describe(self) -> tuple[str, ...]:
        """Return what names the actor and is no memory, with what removes the name."""
        sessions = (
            f'session {one} names the actor in its {where}: erase it by session_id'
            for one, where in self.sessions.items()
        )
        collections = (
            f'collection {one} has the name of the actor in its own: it goes with its memories'
            for one in self.collections
        )
        return (*sessions, *collections)


def find_mentions(connection: apsw.Connection, actor_id: str, doomed: Doomed) -> Mentions:
    """
    Return what of others names an actor, now or in an earlier state, and does not go.

    However the name is written: in small or capital letters, composed or not, with its accents,
    without, or spelled out (Müller, MÜLLER, Mueller, Muller).
    """
    name = _Name(actor_id.rpartition(':')[2])
    found = {
        row[0] for row in connection.execute(_OF_MEMORIES, (actor_id,)) if name.is_in(row[2:])
    }
    for kind, sql in _OF_PARTS.items():
        gone = set(getattr(doomed, kind))
        rows: Any = connection.execute(sql)
        found.update(row[0] for row in rows if row[1] not in gone and name.is_in(row[2:]))
    collections: Any = connection.execute('SELECT name FROM collections ORDER BY name')
    return Mentions(
        sorted(found - doomed.created.keys()),
        dict(_find_sessions(connection, name, doomed)),
        [row[0] for row in collections if name.is_in(row)],
    )


def _find_sessions(
    connection: apsw.Connection, name: _Name, doomed: Doomed
) -> Iterator[tuple[str, str]]:
    columns = ('title', 'tags', 'metadata', 'context')
    rows: Any = connection.execute(f'SELECT id, {", ".join(columns)} FROM sessions ORDER BY id')
    for one, *texts in rows:
        where = [column for column, text in zip(columns, texts, strict=True) if name.is_in([text])]
        if where and one not in doomed.sessions:
            yield one, ', '.join(where)


class _Name:
    """A name as it is looked for in texts, in both ways to write it without accents."""

    def __init__(self, name: str) -> None:
        self._forms = tuple(form(fold(name)) for form in (_spell, _strip))

    def is_in(self, texts: Iterable[Any]) -> bool:
        """Say whether one of some texts, None aside, has the name."""
        return any(isinstance(text, str) and self._is_in(text) for text in texts)

    def _is_in(self, text: str) -> bool:
        spelled, stripped = self._forms
        folded = fold(text)
        if folded.isascii():
            return spelled in folded or stripped in folded
        return spelled in _spell(folded) or stripped in _strip(folded)


def _spell(folded: str) -> str:
    """Return a folded text with letters spelled out, and without the accents that are left."""
    return _strip(folded.translate(_SPELLED))


def _strip(folded: str) -> str:
    plain = ''.join(
        one for one in unicodedata.normalize('NFD', folded) if not _MARKS[0] <= one <= _MARKS[1]
    )
    return unicodedata.normalize('NFC', plain)
