"""The one past instant that a short text names by the words of questions."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from robot_memory.text.questions.calendar import Calendar
from robot_memory.text.questions.folding import correct_words, fold_characters
from robot_memory.text.questions.windows import find_window

_NOW = ('now', '现在')
_LONGEST = 64
_SINCE = 'since '


def find_time(text: str, now: datetime, zone: ZoneInfo) -> datetime | None:
    """
    Return the instant that all of a text names, seen from `now` (aware); None where it names none.

    A day, a week or another stretch is its beginning, in the zone.
    """
    text = text.strip()
    if len(text) > _LONGEST:
        return None
    if text.lower() in _NOW:
        return now
    for before in ('', _SINCE):  # some words name a time only behind another: monday, October
        folded = correct_words(fold_characters(before + text))
        found = find_window(folded, Calendar(now, zone))
        if found is not None and not _is_left(folded, len(before), found.spans):
            return found.window.near or found.window.since
    return None


def _is_left(text: str, start: int, spans: tuple[tuple[int, int], ...]) -> bool:
    """Say whether anything of a text, from a place on, is in none of the spans."""
    return any(
        not character.isspace() and not any(begin <= at < end for begin, end in spans)
        for at, character in enumerate(text[start:], start)
    )
