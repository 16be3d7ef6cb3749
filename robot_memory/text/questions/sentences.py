"""The sentences of a text that ask something."""

from __future__ import annotations

from collections.abc import Iterator

from robot_memory.text.questions.folding import fold_characters
from robot_memory.text.questions.tables import load_pattern
from robot_memory.text.tokenizer import STOP_TERMS, extract_terms

SHORT = 300
"""Characters up to which a text is taken whole."""
HIDDEN = '\x00'
"""Stands for a character that is not read."""


def split_question(text: str) -> list[str]:
    """
    Return the sentences of a text that ask, each with the one before where it points back to it.

    A short text, and one that asks nothing, is returned whole.
    """
    return [text[start:end] for start, end in find_question(text)]


def find_question(text: str, longest: int | None = None) -> list[tuple[int, int]]:
    """Return where the sentences of `split_question` stand, up to so many characters of them."""
    whole = [(0, len(text) if longest is None else min(len(text), longest))]
    if len(text) <= SHORT:
        return whole
    found: list[tuple[int, int]] = []
    left = longest if longest is not None else len(text)
    before = 0
    for start, end in _list_sentences(text):
        if load_pattern('signs', 'sentence', 'asks').search(fold_characters(text[start:end])):
            asked = text[start:end]
            if start and _says_little(fold_characters(asked)):
                start = before
            if found and start < found[-1][1]:
                start = found.pop()[0]
            found.append((start, min(end, start + left)))
            left -= found[-1][1] - found[-1][0]
            if left <= 0:
                break
        before = start
    return found or whole


def _list_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a text; a quoted one ends with what quotes it."""
    start = 0
    for end in load_pattern('signs', 'sentence', 'ends').finditer(text):
        yield start, end.start() + len(end[0].rstrip())
        start = end.end()
    if start < len(text):
        yield start, len(text)


def _says_little(sentence: str) -> bool:
    """Say whether a question is about what the sentence before it names."""
    terms = [
        term for term in extract_terms(sentence[:SHORT]) if term not in STOP_TERMS and term > 'a'
    ]
    return len(terms) < 2 and (
        len(terms) < 1 or bool(load_pattern('signs', 'sentence', 'points_back').search(sentence))
    )
