"""JSON that a user gives: its depth, its text, and how a value is shown."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any

import pytest

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Json, arg, parse
from robot_memory.core.json_text import MAX_JSON_DEPTH, dump_json, format_value, parse_json


@dataclass(frozen=True)
class Request:
    """One field of any JSON."""

    anything: Json | None = arg('JSON.', default=None)


def read(anything: Any) -> Request:
    return parse(Request, {'anything': anything}, 'test')


def test_json_is_refused_before_it_is_too_deep_for_any_reader() -> None:
    def nested(levels: int) -> str:
        return '[' * levels + ']' * levels

    assert dump_json(parse_json('x', nested(MAX_JSON_DEPTH))) == nested(MAX_JSON_DEPTH)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        for levels in (MAX_JSON_DEPTH + 1, 5_000, 100_000):
            with pytest.raises(InvalidArgument):
                read(nested(levels))
    finally:
        sys.setrecursionlimit(limit)
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(InvalidArgument, match='Circular'):
        read(cycle)


@pytest.mark.parametrize('levels', range(MAX_JSON_DEPTH - 2, MAX_JSON_DEPTH + 3))
@pytest.mark.parametrize('inner', [[], {}, [[], {}] * 500, {'a': [], 'b': 1}, ['flat'] * 1000])
def test_the_depth_of_a_value_is_that_of_its_deepest_part(levels: int, inner: Any) -> None:
    own = 2 if any(isinstance(child, (list, dict)) for child in _children(inner)) else 1
    value = inner
    for level in range(levels - own):
        value = [1, value, 'x'] if level % 2 else {'flat': [], 'deep': value}
    if levels <= MAX_JSON_DEPTH:
        assert parse_json('x', dump_json(value)) == value
    else:
        with pytest.raises(InvalidArgument, match='more than 100 levels'):
            dump_json(value)


def _children(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value


def test_no_more_levels_are_walked_than_a_value_has() -> None:
    def lines(value: Any) -> int:
        count = 0

        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal count
            if frame.f_code.co_name != '_is_deep':
                return None
            count += event == 'line'
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            dump_json(value)
        finally:
            sys.settrace(before)
        return count

    few: Any = {'params': {'grip_n': 12.5}}
    wide: list[Any] = [[]] * MAX_JSON_DEPTH
    nested: list[Any] = []
    for _ in range(MAX_JSON_DEPTH - 2):
        nested = [nested]
    assert lines(few) == 0 < lines(wide) * 10 < lines([*wide, nested])


def test_a_backslash_before_u0000_is_text_and_no_nul() -> None:
    assert read(['\\u0000']).anything == ['\\u0000']


def test_equal_objects_have_equal_texts() -> None:
    assert dump_json({'b': 1, 'a': {'d': 2, 'c': 3}}) == '{"a":{"c":3,"d":2},"b":1}'


@pytest.mark.parametrize('value', ['x' * 10**6, 10**5000, '\ud800' * 3, [[]] * 1000], ids=type)
def test_what_a_message_shows_is_short_and_printable(value: Any) -> None:
    text = format_value(value)
    assert len(text) <= 80
    text.encode()
