"""Answers of a bounded size: what is too long is shortened, and it is told; `show` gives all."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from robot_memory.core.fields import arg

FIELD = 65_536
"""Characters of one field of a memory."""
TEXT = 131_072
"""Characters of a content: more than a turn may have."""
ANSWER = 2_000_000
"""Characters of all memories of an answer, about."""
_CONTENTS = ('content', 'record_content')
_LEAST = 2_000
_SMALL = 200
"""Characters of a member that stays while there is room, however many others there are."""
_ESCAPED = 6
"""Characters that one takes in JSON at most, as \\u001f does."""
_MARK = '…'
AnswerT = TypeVar('AnswerT')


def compute_field_limit(count: int) -> int:
    """Return how many characters a field may have in an answer that tells so many memories."""
    return max(_LEAST, min(FIELD, ANSWER // max(4 * count, 1)))


def _compute_limit(name: str, count: int) -> int:
    """Return the room of a field; where they are few, a content has it for a whole turn."""
    if name not in _CONTENTS:
        return compute_field_limit(count)
    return max(_LEAST, min(TEXT, ANSWER // max(4 * count, 1)))


def measure_size(value: Any) -> int:
    """Return how many characters a value takes as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(',', ':')))


def shorten(value: Any, room: int) -> Any:
    """
    Return a JSON value with texts cut and items left out until it takes `room` characters.

    Short members stay rather than long ones. A type stays what it is.
    """
    if isinstance(value, str):
        return _cut_text(value, room)
    if isinstance(value, dict):
        return _shorten_members(value, room)
    if isinstance(value, (list, tuple)):
        kept: list[Any] = []
        room -= 2
        for item in value:
            room -= measure_size(item) + 1
            if room < 0:
                break
            kept.append(item)
        return kept
    return value


def _shorten_members(value: dict[str, Any], room: int) -> dict[str, Any]:
    sizes = {key: measure_size(key) + measure_size(child) + 2 for key, child in value.items()}
    kept = {}
    room -= 2
    for place, key in enumerate(sorted(sizes, key=lambda key: sizes[key])):
        share = max(room // (len(sizes) - place), min(_SMALL, room))
        if sizes[key] <= share:
            kept[key] = value[key]
            room -= sizes[key]
            continue
        left = share - measure_size(key) - 2
        child = shorten(value[key], left) if left > 2 else None
        if isinstance(child, (str, dict, list)) and child:
            kept[key] = child
            room -= measure_size(key) + measure_size(child) + 2
    return {key: kept[key] for key in value if key in kept}


def _cut_text(text: str, room: int) -> str:
    """Return the beginning of a text that takes `room` characters as JSON, with a mark."""
    if measure_size(text) <= room:
        return text
    kept = text[: max(room - 3, 0)]
    while kept and measure_size(kept + _MARK) > room:
        kept = kept[: -max(1, (measure_size(kept + _MARK) - room) // 6)]
    return kept + _MARK if kept else ''


def shortened_arg() -> Any:
    """Declare the field of a view that names what `fit_each` has shortened."""
    return arg(
        'Fields truncated in this response; show returns them in full.',
        default=None,
        omitted=True,
    )


def fit_each(views: Sequence[AnswerT], names: Sequence[str]) -> list[AnswerT]:
    """
    Return the views of an answer with the named fields within their room.

    Those that were longer are named in the field `shortened` of each.
    """
    rooms = {name: _compute_limit(name, len(views)) for name in names}
    return [_fit(view, rooms) for view in views]


def _fit(shown: AnswerT, rooms: Mapping[str, int]) -> AnswerT:
    """Return a view with some of its fields within their rooms."""
    found = _shorten_fields({name: getattr(shown, name) for name in rooms}, rooms)
    if not found:
        return shown
    return dataclasses.replace(shown, **found, shortened=tuple(found))  # type: ignore[type-var]


def fit_members(shown: dict[str, Any], names: Sequence[str], count: int) -> dict[str, Any]:
    """Return one of `count` objects of an answer, its named members shortened as by `fit_each`."""
    rooms = {name: _compute_limit(name, count) for name in names}
    found = _shorten_fields({name: shown.get(name) for name in names}, rooms)
    return {**shown, **found, 'shortened': list(found)} if found else shown


def _shorten_fields(values: dict[str, Any], rooms: Mapping[str, int]) -> dict[str, Any]:
    """Return those of the values that were too long, shortened."""
    return {
        name: shorten(value, rooms[name])
        for name, value in values.items()
        if value and _is_longer(value, rooms[name])
    }


def _is_longer(value: Any, room: int) -> bool:
    """Say whether a value takes more than `room` characters as JSON."""
    if isinstance(value, str) and 2 + _ESCAPED * len(value) <= room:
        return False
    return measure_size(value) > room
