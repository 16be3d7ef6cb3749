"""The text of a rule or a task, as all that read it take it."""

from __future__ import annotations

import unicodedata

from robot_memory.text.figures import write_han_parts
from robot_memory.text.rules.measures import write_parts, write_vulgar
from robot_memory.text.rules.sites import mark_capital


def normalise(text: str) -> tuple[str, str]:
    """Return a text in NFKC, 一公斤半 as 1.5公斤, and in lower case with the same length."""
    shown = unicodedata.normalize('NFKC', write_vulgar(text))
    if not shown.isascii():
        shown = write_han_parts(shown)
    shown = mark_capital(write_parts(shown))
    folded = shown.lower()
    if len(folded) != len(shown):
        folded = ''.join(c.lower() if len(c.lower()) == 1 else c for c in shown)
    return shown, folded.replace('\u2019', "'")
