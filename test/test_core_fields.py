"""The table of field types: what each kind takes, refuses and says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Json, Stamp, arg, get_fields, parse, to_plain


@dataclass(frozen=True)
class Inner:
    """A record inside of another."""

    size: int = arg('How large.')


@dataclass(frozen=True)
class Everything:
    """One field of each kind."""

    text: str = arg('A text.', max_length=10)
    whole: int = arg('A count.', default=3, minimum=1, maximum=5)
    number: float | None = arg('A share.', default=None, minimum=0.0, maximum=1.0)
    flag: bool = arg('A switch.', default=False)
    texts: tuple[str, ...] = arg('Words.', default=())
    anything: Json | None = arg('JSON.', default=None)
    object_: Json | None = arg('JSON.', default=None, shape='object')
    choice: str = arg('One of two.', default='a', choices=('a', 'b'))
    stamp: Stamp | None = arg('A time.', default=None)


def read(**values: Any) -> Everything:
    return parse(Everything, {'text': 'x', **values}, 'test')


def test_a_declaration_is_read_into_kinds() -> None:
    kinds = {field.name: field.kind for field in get_fields(Everything)}
    assert kinds == {
        'text': 'text',
        'whole': 'integer',
        'number': 'number',
        'flag': 'flag',
        'texts': 'texts',
        'anything': 'json',
        'object_': 'json',
        'choice': 'text',
        'stamp': 'stamp',
    }
    nullable = {field.name for field in get_fields(Everything) if field.nullable}
    assert nullable == {'number', 'anything', 'object_', 'stamp'}


@pytest.mark.parametrize('missing', [None, ''])
@pytest.mark.parametrize('name', ['whole', 'number', 'texts', 'anything', 'choice', 'stamp'])
def test_none_and_the_empty_text_mean_not_given(name: str, missing: Any) -> None:
    assert read(**{name: missing}) == read()


@pytest.mark.parametrize(
    ('name', 'value', 'kept'),
    [
        ('whole', 5.0, 5),
        ('number', 1, 1.0),
        ('number', 0, 0.0),
        ('texts', ['a', 'b'], ('a', 'b')),
        ('anything', '{"a": [1, null]}', {'a': [1, None]}),
        ('anything', {'a': (1, None)}, {'a': [1, None]}),
        ('anything', {1: 2}, {'1': 2}),
        ('anything', 'null', None),
        ('anything', '"text"', 'text'),
        ('object_', ' {} ', {}),
        ('stamp', {'sec': 5, 'nanosec': 7}, 5_000_000_007),
        ('stamp', '{"sec": -1}', -1_000_000_000),
        ('stamp', 12, 12),
    ],
)
def test_a_value_is_read(name: str, value: Any, kept: Any) -> None:
    assert getattr(read(**{name: value}), name) == kept


@pytest.mark.parametrize(
    ('name', 'value', 'accepted'),
    [
        ('text', 7, 'must be a string'),
        ('text', 'x' * 11, '0 to 10 characters'),
        ('text', 'nul\0', 'NUL'),
        ('text', '\ud800', 'surrogate'),
        ('whole', 0, '1 to 5'),
        ('whole', 10**400, '1 to 5'),
        ('whole', 2.5, 'integer'),
        ('whole', True, 'integer'),
        ('whole', '3', 'integer'),
        ('number', float('nan'), 'finite'),
        ('number', float('-inf'), 'finite'),
        ('number', 10**400, 'finite'),
        ('number', -1e-9, '0 to 1'),
        ('number', False, 'must be a number'),
        ('flag', 1, 'true or false'),
        ('texts', 'ab', 'list of strings'),
        ('texts', [1], 'must be a string'),
        ('anything', '{', 'not valid JSON'),
        ('anything', '[NaN]', 'not valid JSON'),
        ('anything', '[1e999]', 'cannot be stored'),
        ('anything', [float('inf')], 'cannot be stored'),
        ('anything', {'a': {1, 2}}, 'cannot be stored'),
        ('anything', {'a': '\ud800'}, 'surrogate'),
        ('anything', {'a\0': 1}, 'NUL'),
        ('anything', '["\\u0000"]', 'NUL'),
        ('object_', '[]', 'JSON object'),
        ('object_', '3', 'JSON object'),
        ('choice', 'c', 'one of a, b'),
        ('stamp', {'sec': 1.5}, '32-bit integer'),
        ('stamp', {'sec': 2**31}, '32-bit integer'),
        ('stamp', {'sec': 1, 'nanosec': 10**9}, '32-bit integer'),
        ('stamp', {'sec': 1, 'secs': 2}, '32-bit integer'),
        ('stamp', 10**30, '32-bit integer'),
        ('stamp', True, '32-bit integer'),
    ],
)
def test_a_wrong_value_is_refused_by_name_with_what_is_accepted(
    name: str, value: Any, accepted: str
) -> None:
    with pytest.raises(InvalidArgument, match=accepted) as refused:
        read(**{name: value})
    assert str(refused.value).startswith(name)


def test_a_missing_and_an_unknown_argument_are_named() -> None:
    with pytest.raises(InvalidArgument, match='test requires text'):
        parse(Everything, {}, 'test')
    with pytest.raises(InvalidArgument, match="no argument 'size'; accepted: text, whole"):
        read(size=3)
    with pytest.raises(InvalidArgument, match='keyword arguments'):
        parse(Everything, ['x'], 'test')  # type: ignore[arg-type]


def test_a_value_without_a_truth_of_its_own_is_no_empty_text() -> None:
    class Vague:
        def __eq__(self, other: object) -> bool:
            raise ValueError('ambiguous')

        __hash__ = None  # type: ignore[assignment]

    with pytest.raises(InvalidArgument, match='cannot be stored'):
        read(anything=Vague())


def test_what_is_kept_is_a_copy() -> None:
    given = {'robot': {'type': 'UR5e'}}
    kept = read(anything=given).anything
    given['robot']['type'] = 'other'
    assert kept == {'robot': {'type': 'UR5e'}}


def test_a_response_becomes_plain_json() -> None:
    @dataclass(frozen=True)
    class Answer:
        one: Inner = arg('One.')
        many: tuple[Inner, ...] = arg('Many.')
        words: tuple[str, ...] = arg('Words.')
        at: Stamp | None = arg('When.')
        gone: int | None = arg('Left out while None.', default=None, omitted=True)
        kept: int | None = arg('Kept while None.', default=None)

    Answer.__annotations__ = {
        'one': Inner,
        'many': tuple[Inner, ...],
        'words': tuple[str, ...],
        'at': Stamp | None,
        'gone': int | None,
        'kept': int | None,
    }
    answer = Answer(Inner(1), (Inner(2), Inner(3)), ('a',), Stamp(1_500_000_000))
    assert to_plain(answer) == {
        'one': {'size': 1},
        'many': [{'size': 2}, {'size': 3}],
        'words': ['a'],
        'at': {'sec': 1, 'nanosec': 500_000_000},
        'kept': None,
    }
