"""Compiles what questions are read by before there are any."""

from __future__ import annotations

from datetime import datetime, timezone
from functools import cache
from zoneinfo import ZoneInfo

from robot_memory.text.questions.reader import read_question

_QUESTIONS = ('How many contacts over 5 N were there last week?', '上周超过5牛的接触有几次？')


@cache
def warm_up() -> None:
    """Read a question of each language once: the first one waits 0.1 s for its patterns."""
    for text in _QUESTIONS:
        read_question(text, datetime.now(timezone.utc), ZoneInfo('UTC'))
