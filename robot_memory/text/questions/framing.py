"""Which part of a short text asks, and which only says who asks, why, or of what."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

from robot_memory.text.questions.events import Mention, Span, is_han
from robot_memory.text.questions.tables import load_pattern


@dataclass(frozen=True)
class Frame:
    """
    Hold where the asking part of a text begins, and what else in it asks nothing.

    `points_back` says that the asking part is about what stands before it: how many was that?
    """

    start: int = 0
    others: tuple[Span, ...] = ()
    points_back: bool = False
    sentences: tuple[Span, ...] = ()
    """Whole sentences before the asking part, which say nothing to a search, and asides."""
    asides: tuple[Span, ...] = ()
    """What only says what an answer is for."""


NO_FRAME = Frame()


def find_frame(folded: str, mentions: list[Mention]) -> Frame:
    """Return the frame of a question; one without where all of the text asks, or nothing."""
    frame = _find_pieces(folded, mentions)
    asides = [one for one in _find_asides(folded) if _is_beside(one, mentions)]
    if not asides:
        return frame
    sentences = (*frame.sentences, *asides)
    return replace(
        frame, others=(*frame.others, *asides), sentences=sentences, asides=tuple(asides)
    )


def _find_asides(folded: str) -> list[Span]:
    """Return what only says what an answer is for, in either language."""
    return [one.span() for one in load_pattern('signs', 'preamble', 'aside').finditer(folded)]


def _is_beside(aside: Span, mentions: list[Mention]) -> bool:
    """Say whether an aside names no event of its own, and something else is left."""
    return not any(
        aside[0] <= m.start < aside[1] and not (m.happening or m.common) for m in mentions
    )


def _find_pieces(folded: str, mentions: list[Mention]) -> Frame:
    """Return the frame that the sentences of a text make."""
    pieces = _split(folded)
    label = load_pattern('signs', 'preamble', 'label')
    asking = [two for one, two in itertools.pairwise(pieces) if label.match(folded[slice(*one)])]
    asking = asking or [one for one in pieces if _asks(folded, one)]
    if not asking:
        return NO_FRAME
    start = asking[0][0]
    others = tuple(one for one in pieces if one not in asking)
    if not others:
        clause = _find_clause(folded, mentions) if is_han(folded) else 0
        return Frame(clause, ((0, clause),)) if clause else NO_FRAME
    back = load_pattern('signs', 'preamble', 'points_back').search(folded, start)
    whole = load_pattern('signs', 'preamble', 'whole')
    sentences = tuple(one for one in others if one[1] <= start and whole.search(folded, *one))
    return Frame(start, others, back is not None, sentences)


def _split(folded: str) -> list[Span]:
    """Return the pieces of a text between marks that end a sentence or announce one."""
    pieces: list[Span] = []
    begin = 0
    for mark in load_pattern('signs', 'preamble', 'mark').finditer(folded):
        pieces.append((begin, mark.end()))
        begin = mark.end()
    pieces.append((begin, len(folded)))
    return [one for one in pieces if folded[slice(*one)].strip()]


def _asks(folded: str, piece: Span) -> bool:
    text = folded[slice(*piece)].strip()
    return load_pattern('signs', 'sentence', 'asks').search(text) is not None


def _find_clause(folded: str, mentions: list[Mention]) -> int:
    """Return where the first Chinese clause ends that names no event and no number, else 0."""
    clause = load_pattern('signs', 'preamble', 'clause').match(folded)
    if clause is None or any(one.start < clause.end() for one in mentions):
        return 0
    return clause.end()
