"""What language models write for a value: what is unambiguous is taken, all else is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from robot_memory.core.coercion import coerce_arguments, read_point
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Json, Stamp, arg, get_fields, parse


@dataclass(frozen=True)
class Call:
    """One field of each kind."""

    text: str = arg('A text.', default='')
    memory_id: int = arg('An id.', default=1, minimum=1)
    count: int = arg('A count.', default=3)
    number: float = arg('A share.', default=0.5, maximum=1.0)
    flag: bool = arg('A switch.', default=False)
    memory_ids: tuple[int, ...] = arg('Ids.', default=())
    texts: tuple[str, ...] = arg('Words.', default=())
    session_id: str | None = arg('A session.', default=None)
    filter_by: Json | None = arg('Conditions.', default=None, shape='object')
    data: Json | None = arg('JSON.', default=None)
    read: str = arg('One of two.', default='auto', choices=('auto', 'off'))
    success: str = arg('One of three.', default='unknown', choices=('true', 'false', 'unknown'))
    stamp: Stamp | None = arg('A time.', default=None)


def read(**values: Any) -> Call:
    return parse(
        Call, coerce_arguments({field.name: field for field in get_fields(Call)}, values), 'test'
    )


@pytest.mark.parametrize(
    ('name', 'value', 'meant'),
    [
        ('count', '5', 5),
        ('count', ' -7 ', -7),
        ('count', '5.0', 5),
        ('count', '５', 5),
        ('count', ['5'], 5),
        ('memory_id', '#12', 12),
        ('memory_id', '[12]', 12),
        ('memory_id', '[mem_12]', 12),
        ('memory_ids', '[mem_1, mem_2]', (1, 2)),
        ('memory_ids', ['[8]'], (8,)),
        ('success', True, 'true'),
        ('success', False, 'false'),
        ('memory_id', 'memory 12', 12),
        ('memory_id', 'MEM-12', 12),
        ('memory_id', ['mem_12'], 12),
        ('memory_ids', 'mem_1, 2', (1, 2)),
        ('text', ['a text'], 'a text'),
        ('texts', 'a, b，c', ('a', 'b', 'c')),
        ('session_id', 'None', None),
        ('session_id', 'null', None),
        ('filter_by', 'None', None),
        ('filter_by', [], {}),
        ('filter_by', [{'a': 1}], {'a': 1}),
        ('memory_id', 'mem_12', 12),
        ('memory_id', '12', 12),
        ('number', '0.25', 0.25),
        ('number', '.5', 0.5),
        ('number', '1e-3', 0.001),
        ('flag', 'True', True),
        ('flag', ' false', False),
        ('texts', 'count', ('count',)),
        ('texts', '["a", "b"]', ('a', 'b')),
        ('texts', "['a', 'b']", ('a', 'b')),
        ('read', 'Off', 'off'),
        ('stamp', '2026-11-20T14:03:00Z', 1_795_183_380_000_000_000),
        ('stamp', '2026-11-20T15:03:00.5+01:00', 1_795_183_380_500_000_000),
        ('stamp', '12', 12),
        ('stamp', '{"sec": 1}', 1_000_000_000),
    ],
)
def test_what_is_unambiguous_is_taken(name: str, value: Any, meant: Any) -> None:
    assert getattr(read(**{name: value}), name) == meant


@pytest.mark.parametrize(
    ('text', 'meant'),
    [
        ("{'task.success': True, 'x': None}", {'task.success': True, 'x': None}),
        ("{'a': true, 'b': null}", {'a': True, 'b': None}),
        ('{"a": 1,}', {'a': 1}),
        ('```json\n{"a": {"$lt": 15}}\n```', {'a': {'$lt': 15}}),
        ('```\n{"a": 1}```', {'a': 1}),
        ('{"a"：1，"b"：［2，3］}', {'a': 1, 'b': [2, 3]}),
        ('｛“物体”：“杯子：红，大”｝', {'物体': '杯子：红，大'}),
        ("{'who': \"Li's cup\"}", {'who': "Li's cup"}),
        (
            '{task.success: true, params.force: {$gt: 5}}',
            {'task.success': True, 'params.force': {'$gt': 5}},
        ),
        ('task.success: true', {'task.success': True}),
        ('“task.success”：true', {'task.success': True}),
        ('{"a": 1} // only one', {'a': 1}),
        ('{"url": "http://a, b: c"}', {'url': 'http://a, b: c'}),
        ('"{\\"a\\": 1}"', {'a': 1}),
        ('{"text": "true, null：，"}', {'text': 'true, null：，'}),
        ("{'text': 'true, null'}", {'text': 'true, null'}),
    ],
)
def test_json_is_taken_in_other_quotes_and_punctuation(text: str, meant: Any) -> None:
    assert read(filter_by=text).filter_by == meant


@pytest.mark.parametrize('value', ['true', '5', 'yes', '{"a": 1}'])
def test_a_value_inside_of_a_filter_stays_what_it_is(value: str) -> None:
    assert read(filter_by={'task.success': value}).filter_by == {'task.success': value}
    assert read(text=value).text == value


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('count', 'five'),
        ('count', '5.5'),
        ('count', 'mem_5'),
        ('count', True),
        ('memory_id', 'memory of 12'),
        ('memory_id', ['mem_1', 'mem_2']),
        ('memory_id', '[mem_9'),
        ('memory_id', '9]'),
        ('memory_ids', '[mem_1, 2'),
        ('text', ['a', 'b']),
        ('filter_by', [{'a': 1}, {'b': 2}]),
        ('filter_by', 'a = 1'),
        ('memory_id', '1e3'),
        ('memory_id', '0'),
        ('number', '50%'),
        ('number', 'nan'),
        ('number', '0x10'),
        ('flag', 'yes'),
        ('flag', 1),
        ('texts', '["a"'),
        ('texts', '[1]'),
        ('filter_by', '{"a": 1'),
        ('filter_by', "{'a': open('x')}"),
        ('filter_by', "{'a': {1, 2}}"),
        ('filter_by', '{a: b}'),
        ('filter_by', '(' * 5000),
        ('filter_by', '{"a": NaN}'),
        ('read', 'never'),
        ('stamp', 'yesterday'),
        ('stamp', '2026-13-40'),
        ('stamp', 1.5),
    ],
)
def test_what_is_not_certain_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidArgument, match=name):
        read(**{name: value})


def test_a_name_in_another_style_is_taken() -> None:
    assert read(memoryId='4').memory_id == 4
    assert read(**{'filter-by': {'a': 1}}).filter_by == {'a': 1}


def test_a_name_of_other_interfaces_is_taken_for_the_only_one_of_its_kind() -> None:
    assert read(limit='4').count == 4
    assert read(query='red').text == 'red'
    assert read(id=4).memory_id == 4
    assert read(arguments={'count': 4}).count == 4


def test_a_name_that_two_fields_could_have_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"'limit'.*accepted: "):
        read(limit=4, top_k=5)
    with pytest.raises(InvalidArgument, match=r"'limit'.*accepted: "):
        read(limit=4, count=5)


def test_no_session_is_a_word_only_where_nothing_is_destroyed() -> None:
    declared = {field.name: field for field in get_fields(Call)}
    given = coerce_arguments(declared, {'session_id': 'None'}, is_destructive=True)
    assert given == {'session_id': 'None'}


@pytest.mark.parametrize(
    ('given', 'meant'),
    [
        ({'x': 1, 'y': 2, 'z': 0}, [1, 2, 0]),
        ('1, 2, 0', [1.0, 2.0, 0.0]),
        ('[1, 2.5]', [1.0, 2.5]),
        (['1', 2, '-3'], [1.0, 2, -3.0]),
        ({'x': 1, 'w': 2}, {'x': 1, 'w': 2}),
        ('here', ['here']),
        (None, None),
    ],
)
def test_a_point_is_read_as_it_is_written(given: Any, meant: Any) -> None:
    assert read_point(given) == meant


def test_a_name_given_twice_in_two_styles_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r'memoryId.*did you mean memory_id'):
        read(memoryId=4, memory_id=5)


def test_a_name_that_is_near_is_suggested_and_not_taken() -> None:
    with pytest.raises(InvalidArgument, match=r"'counts' \(did you mean count\?\); accepted: "):
        read(counts=4)
