"""JSON as language models write it: an object or an array is read, all else is none."""

from __future__ import annotations

from typing import Any

import pytest

from robot_memory.core.loose_json import MOST_REPAIRED, is_json, read_json


@pytest.mark.parametrize(
    ('text', 'meant'),
    [
        ("{'a': True}", {'a': True}),
        ('```json\n[1, 2,]\n```', [1, 2]),
        ('{a.b: 1, "c": 2} // the rest', {'a.b': 1, 'c': 2}),
        ('{"a": 1, /* not now */ "b": 2}', {'a': 1, 'b': 2}),
        ('{“甲”：1，“乙”：“二，三”}', {'甲': 1, '乙': '二，三'}),
        ('"[1, 2]"', [1, 2]),
    ],
)
def test_what_is_meant_is_read(text: str, meant: Any) -> None:
    assert read_json(text) == meant


def test_an_object_may_lack_its_braces_where_that_is_allowed() -> None:
    assert read_json('a: 1, b: "x: y"', may_be_bare=True) == {'a': 1, 'b': 'x: y'}
    assert read_json('a: 1') is None


@pytest.mark.parametrize('text', ['', '5', '"a"', 'null', '[', '{', "'", '```', '{“', 'a = 1'])
def test_what_is_no_object_and_no_array_is_none(text: str) -> None:
    assert read_json(text, may_be_bare=True) is None


def test_a_long_text_is_not_repaired() -> None:
    assert read_json(f"{{'a': '{'x' * MOST_REPAIRED}'}}") is None


def test_what_is_json_is_told() -> None:
    assert is_json('{"a": 1}')
    assert not is_json("{'a': 1}")
