"""Events and sessions whose words have those of a question, by the full-text index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.events.pages import EventRow
from robot_memory.storage.indexes import fulltext
from robot_memory.storage.tables import sessions
from robot_memory.text.caching import LONGEST
from robot_memory.text.questions.folding import fold_characters
from robot_memory.text.questions.tables import load_pattern
from robot_memory.text.questions.words import Alternatives
from robot_memory.text.tokenizer import extract_terms

_NAMES = ('label', 'topic', 'kind')
_NAMED = (*_NAMES, 'session_id')
_MOST_SESSIONS = 2000
_ITSELF = 0.1
_AT_WORK = 0.4
"""What it counts that an event has the word itself, and that only its task has it."""

_NUMBER = re.compile(r'\d+|[一二两三四五六七八九十]+')


@dataclass(frozen=True)
class WordMatcher:
    """Count the words of a question that events of a collection have."""

    memory: Memory
    collection: str

    def count_each(self, words: Sequence[Alternatives], events: Sequence[EventRow]) -> list[float]:
        """
        Return how many of some words each event has; none where no event has any.

        A word itself counts a little more than one that means the same.
        """
        if not words or not events:
            return []
        counts = [0.0] * len(events)
        known = [one.memory_id for one in events if one.memory_id is not None]
        with self.memory.db.read() as connection:
            for alternatives in words:
                has = self._find_having(connection, alternatives, events, known)
                itself = has
                if has and len(alternatives) > 1:
                    itself = self._find_having(connection, alternatives[:1], events, known)
                at_work = self._find_at_work(connection, alternatives, events)
                for place in range(len(events)):
                    worth = 1.0 if place in has else _AT_WORK * (place in at_work)
                    counts[place] += worth + _ITSELF * (place in itself)
        return counts if any(counts) else []

    def _find_having(
        self,
        connection: Connection,
        alternatives: Alternatives,
        events: Sequence[EventRow],
        known: Sequence[int],
    ) -> set[int]:
        """Return the places of the events that have a word or one that means the same."""
        holding = fulltext.select_matching(connection, _list_terms(alternatives), known)
        named = self._find_names(connection, alternatives, events)
        return {
            place
            for place, one in enumerate(events)
            if one.memory_id in holding
            or (named and not named.isdisjoint(map(one.names.get, _NAMED)))
        }

    def find_sessions(self, words: Sequence[Alternatives]) -> list[str]:
        """Return the sessions whose surroundings have most of some words, at least all of one."""
        numbers = [one for one in words if all(_NUMBER.fullmatch(word) for word in one)]
        with self.memory.db.read() as connection:
            named, counted = (
                [self._match_sessions(connection, one, places=True) for one in some]
                for some in ([one for one in words if one not in numbers], numbers)
            )
        having = set.intersection(*found) if (found := [one for one in named if one]) else set()
        of_all = having.intersection(*(one for one in counted if one))
        return sorted(of_all or having)  # a number alone is no place: joint 2 is not cell 2

    def _find_at_work(
        self, connection: Connection, alternatives: Alternatives, events: Sequence[EventRow]
    ) -> set[int]:
        """Return the places of the events in whose task a word is."""
        tasks = {one.names.get('task') for one in events}
        having = {name for name in tasks if name and has_word(connection, name, alternatives)}
        return {place for place, one in enumerate(events) if one.names.get('task') in having}

    def _find_names(
        self, connection: Connection, alternatives: Alternatives, events: Iterable[EventRow]
    ) -> set[str]:
        """Return the names of events, and the sessions that are events, that have a word."""
        names = {one.names.get(name) for one in events for name in _NAMES}
        found = {name for name in names if name and has_word(connection, name, alternatives)}
        if any(one.names.get('kind') == 'session' for one in events):
            found |= self._match_sessions(connection, alternatives)
        return found

    def _match_sessions(
        self, connection: Connection, alternatives: Alternatives, *, places: bool = False
    ) -> set[str]:
        return {
            session_id
            for session_id, title, place in self._sessions
            if has_word(connection, place if places else f'{title} {place}', alternatives)
        }

    @cached_property
    def _sessions(self) -> list[tuple[str, str, str]]:
        with self.memory.db.read() as connection:
            return sessions.list_titles(connection, self.collection, _MOST_SESSIONS)


def choose_way(
    question: str, words: Sequence[Alternatives], events: list[EventRow]
) -> list[EventRow]:
    """Return the changes to what a question names, or from it; all where no text says which."""
    away = load_pattern('events', 'tool', 'away').search(fold_characters(question))
    names = '|'.join(re.escape(one) for alternatives in words for one in alternatives)
    way = re.compile(rf'\b{"from" if away else "to"} (?:the |an? )?(?:{names})', re.IGNORECASE)
    return [one for one in events if one.text and way.search(one.text)] or events


def _list_terms(alternatives: Alternatives) -> list[str]:
    """Return alternatives as the index has them: the terms of several words side by side."""
    several = (' '.join(_extract(one)) for one in alternatives)
    return [one for one in several if one]


def _extract(text: str) -> list[str]:
    """Return the terms of a text without what says that a date or an amount is in it."""
    return [term for term in extract_terms(text) if term[0] < '\ue000']


def has_word(connection: Connection, text: str, alternatives: Alternatives) -> bool:
    """Say whether a text has one of some words, in any form."""
    have = _stem(connection, text)
    return bool(have) and any(
        stem in have for one in alternatives if (stem := _stem(connection, one))
    )


_stems: dict[str, str] = {}
_MOST_STEMS = 5000


def _stem(connection: Connection, text: str) -> str:
    """Return the stems of a text between blanks; those of the last texts are kept."""
    known = _stems.get(text)
    if known is None:
        terms = _extract(text.replace('_', ' ').replace('-', ' '))
        known = f' {" ".join(fulltext.stems(connection, terms))} ' if terms else ''
        if len(text) <= LONGEST:
            if len(_stems) >= _MOST_STEMS:
                _stems.clear()
            _stems[text] = known
    return known
