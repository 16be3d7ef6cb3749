"""Controls of terminals and of direction are shown, never obeyed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_memory.api import RobotMemory
from robot_memory.core.errors import NotFound
from robot_memory.text.controls import blank_controls, escape_controls

CONTROLS = '\0\x07\x1b\x7f\x80\x9b\x9f\u061c\u200e\u200f\u2028\u202a\u202e\u2066\u2069'


@given(st.text(st.sampled_from(f'{CONTROLS}\t\na"\\é杯\U0001f916\u200d')))
def test_escaped_json_is_the_same_value_without_controls(text: str) -> None:
    escaped = escape_controls(json.dumps({text: [text]}, ensure_ascii=False))
    assert json.loads(escaped) == {text: [text]}
    assert not set(CONTROLS) & set(escaped)


def test_an_escape_tells_which_control_it_was() -> None:
    assert escape_controls('a\x1b[31m\u202eb\n') == 'a\\u001b[31m\\u202eb\n'


def test_what_joins_characters_stays() -> None:
    family = '\U0001f468\u200d\U0001f469\u200d\U0001f467 نمی\u200cخواهم'
    assert escape_controls(family) == blank_controls(family) == family


@given(st.text())
def test_a_line_has_no_controls_and_no_ends(text: str) -> None:
    line = blank_controls(text)
    assert len(line) == len(text)
    assert not {*CONTROLS, '\n', '\t', '\r'} & set(line)


def test_a_refusal_shows_controls_of_what_the_store_holds(tmp_path: Path) -> None:
    with RobotMemory(tmp_path / 'memory.db', model='none') as robot:
        robot.record_outcome('\u202e\x1b[2Jpour', params={'speed': 1.0}, success='true')
        with pytest.raises(NotFound, match=r'skills: \\u202e\\u001b\[2Jpour') as refused:
            robot.skill_report('strike')
    assert not set(CONTROLS) & set(str(refused.value))
