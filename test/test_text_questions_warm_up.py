"""What questions are read by is compiled before there are any."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

import pytest

from robot_memory.text.questions.reader import read_question
from robot_memory.text.questions.warm_up import warm_up


@pytest.mark.parametrize(
    'question', ['How many contacts were there yesterday?', '昨天有几次接触？']
)
def test_a_question_compiles_hardly_anything_after_it(
    question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    warm_up()
    compiled: list[str] = []
    compile_pattern = re.compile

    def note(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return compile_pattern(pattern, flags)

    monkeypatch.setattr(re, 'compile', note)
    assert read_question(question, datetime.now(timezone.utc), ZoneInfo('UTC'))
    assert len(compiled) <= 5
