"""The events that a question means with words that no table has, found by their meaning."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from robot_memory.retrieval.named_events import NamedEvents
from robot_memory.text.questions.events import match_label
from robot_memory.text.questions.glosses import Gloss, list_glosses
from robot_memory.text.questions.model import Reading

NEAR, SURE = 0.36, 0.46
"""How near a question is to what it means at least: where it names no kind, and where ordinary
words in it name another (0 to 1, on the scale of relevance)."""
_WORDS = re.compile(r'[^\W\d_]+(?:[ _-][^\W\d_]+){0,4}')
_MOST_NAMES = 200


class MeantEvents(NamedEvents):
    """Find the kinds and labels that questions mean."""

    def add_meaning(self, reading: Reading, question: str) -> Reading | None:
        """
        Return a reading with the kind or label that the question means where it names none.

        A loose reading without one has no order and no count; None where nothing is left of it.
        """
        if not reading.vague:
            return reading
        spans = [(one.start, one.end) for one in reading.spans if one.role == 'anchor']
        for start, end in reversed(spans):  # what the time is told by is not what is asked for
            question = question[:start] + question[end:]
        found = self._find_meant(question.strip())
        named = bool(reading.kinds)
        if named and (spans or reading.labels):
            return reading
        if found and found[1] >= (SURE if named else NEAR):
            meant = found[0]
            if not named or set(meant.kinds).isdisjoint(reading.kinds):
                return replace(reading, kinds=meant.kinds, labels=meant.labels)
            return reading
        if not reading.loose:
            return reading
        reading = replace(reading, order=None, aggregate=None)
        return reading if reading.window or reading.anchor or reading.bounds else None

    def _find_meant(self, question: str) -> tuple[Gloss, float] | None:
        """Return what is nearest to a question of what the store has, and how near it is."""
        if self.memory.embedder.get_if_loaded() is None:
            return None
        glosses = _choose_glosses(tuple(self.names), tuple(self.fields.kinds.values()))
        texts = [one.text.replace('_', ' ') for one in glosses]
        near = self.memory.vocabulary.compare(question, texts)
        if not near:
            return None
        best = max(range(len(near)), key=near.__getitem__)
        meant = glosses[best] if glosses[best].kinds else self._find_field(glosses[best])
        return (meant, near[best]) if meant else None

    def _find_field(self, gloss: Gloss) -> Gloss | None:
        """Return the label that a name of the store is; None where it is no label."""
        where = {'collection': self.collection, 'label': gloss.labels[0]}
        found = self.list_events(where, None, 'onset', True, 1)
        return gloss._replace(kinds=(found[0].names['kind'] or '',)) if found else None


@lru_cache(maxsize=16)
def _choose_glosses(names: tuple[str, ...], kinds: tuple[str, ...]) -> list[Gloss]:
    """Return the glosses of what a store has, and its own names that have none."""
    labels = {label for one in list_glosses() for label in one.labels}
    found = {label: {one for one in names if match_label(label, one)} for label in labels}
    known = [
        one
        for one in list_glosses()
        if (found[one.labels[0]] if one.labels else set(kinds).intersection(one.kinds))
    ]
    explained = set(kinds).union(*found.values())
    own = [one for one in names if one not in explained and _WORDS.fullmatch(one)]
    return [*known, *(Gloss(one, (), (one,)) for one in own[-_MOST_NAMES:])]
