"""A question as it is prepared: most are found to ask of no events, and are read no further."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from robot_memory.text.questions.folding import (
    correct_words,
    fold_characters,
    fold_forms,
    mend_words,
)
from robot_memory.text.questions.sentences import HIDDEN, SHORT, find_question
from robot_memory.text.questions.signs import find_signs

if TYPE_CHECKING:
    from robot_memory.text.questions.model import Reading, Span

LONGEST = 1000
"""Characters of a question that are read; what stands after them is left to the search."""


@dataclass(frozen=True)
class Question:
    """
    Hold a text as it is read: the sentences that ask, at `pieces`, folded, their words mended.

    `moves` says where mended words are longer. No table finds anything in a text without `signs`.
    """

    text: str
    pieces: Sequence[tuple[int, int]]
    asked: str
    folded: str
    moves: Sequence[tuple[int, int]]
    signs: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Question:
        """Prepare a text; of one longer than 300 characters only the sentences that ask."""
        pieces = find_question(text, LONGEST) if len(text) > SHORT else [(0, len(text))]
        asked = HIDDEN.join(text[start:end] for start, end in pieces)
        asked, folded, moves = mend_words(asked, correct_words(fold_forms(fold_characters(asked))))
        return cls(text, pieces, asked, folded, moves, find_signs(folded))

    def read(self, now: datetime, zone: ZoneInfo) -> Reading:
        """
        Return what the question says, seen from `now` (aware), times in `zone`.

        A text that says nothing of time, events, bounds, order or figures gives a reading that is
        false.
        """
        # What reads is large, and most questions are not read.
        from robot_memory.text.questions.model import Reading
        from robot_memory.text.questions.reader import read_sentences
        from robot_memory.text.questions.window_reader import mask
        from robot_memory.text.questions.zones import find_zone, show_in

        reading = None
        named_zone = find_zone(self.folded) if 'time' in self.signs else None
        if named_zone:
            asked, folded = (mask(one, [named_zone[1]], ' ') for one in (self.asked, self.folded))
            reading = read_sentences(asked, folded, self.signs, now, named_zone[0])
            reading = reading and show_in(reading, zone)
        elif self.signs:
            reading = read_sentences(self.asked, self.folded, self.signs, now, zone)
        if reading is None:
            return Reading(self.text.strip())
        spans: Iterable[Span] = reading.spans
        if self.moves:
            spans = [_move_back(span, self.moves) for span in spans]
        first_end = self.pieces[0][1]
        if self.pieces != [(0, first_end)]:
            return replace(reading, spans=tuple(_move(span, self.pieces) for span in spans))
        unread = self.text[LONGEST:].strip() if first_end == LONGEST else ''
        return replace(reading, spans=tuple(spans), rest=f'{reading.rest} {unread}'.strip())


def prepare_question(text: str) -> Question | None:
    """Return a text as it is read; None of most texts, in which no table finds anything."""
    question = Question.of(text)
    return question if question.signs else None


def _move_back(span: Span, moves: Sequence[tuple[int, int]]) -> Span:
    """Return a span of a mended text as one of the text itself."""
    start, end = (
        at - next((shift for place, shift in reversed(moves) if at >= place), 0)
        for at in (span.start, span.end)
    )
    return replace(span, start=start, end=max(start, end))


def _move(span: Span, pieces: Sequence[tuple[int, int]]) -> Span:
    """Return a span of the sentences that ask as one of the whole text."""
    at = 0
    for start, end in pieces:
        if span.start < at + end - start:
            return replace(span, start=span.start - at + start, end=span.end - at + start)
        at += end - start + 1
    return span
