"""Requests of every tool, most of them wrong, and a robot whose file is looked at around them."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from robots import VOCABULARY, Robot, check_file

from robot_memory.catalog import list_tools
from robot_memory.core.errors import Internal, InvalidArgument, RobotMemoryError
from robot_memory.core.fields import Field, get_fields, to_plain
from robot_memory.core.records import PERCEPTION_TYPES
from robot_memory.storage import checksums
from robot_memory.tool import Tool
from robot_memory.tools.analyze import ANALYSES

TABLES = (
    'memories memories_fts_docsize indexed changes facets places payloads sessions audit'
).split()

texts = st.one_of(
    st.text(st.characters(), max_size=60),
    st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=8).map(' '.join),
    st.sampled_from(['', ' ', 'nul\0', '\ud800', 'x' * 11_000, '"', '抽屉卡住', '\u200b', 'null']),
)
numbers = st.one_of(
    st.integers(-2, 120),
    st.sampled_from([0, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 1e308, 5e-324]),
    st.just(5000).map(lambda digits: 10**digits),
    st.floats(),
    st.booleans(),
)
scalars = st.one_of(st.none(), numbers, texts)
documents = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=8,
)


def nested(depth: int, text: bool) -> Any:
    if text:
        return '{"a":' * depth + '1' + '}' * depth
    value: Any = 1
    for _ in range(depth):
        value = {'a': value}
    return value


deep = st.builds(nested, st.sampled_from([50, 99, 101, 900, 5000, 200_000]), st.just(True)) | (
    st.builds(nested, st.sampled_from([50, 101, 900, 5000]), st.just(False))
)
paths = st.sampled_from(
    ['task.success', 'params.f', 'spatial.p', 'list.0', 'created_at', 'status', 'id', 'a..b', '"']
)
operators = st.sampled_from(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$x'])
conditions = st.dictionaries(
    paths, documents | st.dictionaries(operators, documents, max_size=3), max_size=4
)
contexts = st.fixed_dictionaries(
    {},
    optional={
        'task': st.fixed_dictionaries({'success': scalars}),
        'params': st.fixed_dictionaries({'f': scalars}),
        'spatial': st.fixed_dictionaries({'p': st.lists(numbers, max_size=4) | scalars}),
        'list': documents,
        'env': st.sampled_from([{'sim_or_real': 'real'}, 'real', None, []]),
        'actor_id': scalars,
        'strategy_name': scalars,
    },
)
places = st.fixed_dictionaries(
    {'field': st.just('spatial.p') | texts, 'target': st.lists(numbers, max_size=4)},
    optional={'max_distance': scalars, 'other': scalars},
)
objects = st.one_of(contexts, conditions, places, documents, deep)
names = st.sampled_from(['a', 'b'])
amounts = st.sampled_from(['1 N', '2 kN', 3, -1.5, 'soft', '4 m', True, {'value': 1, 'unit': 'N'}])
spans = st.fixed_dictionaries({'min': amounts, 'max': amounts})
figures = st.dictionaries(names, amounts, max_size=2)
bad_json = st.sampled_from(['{', '[NaN]', '[1e999]', '{"a":Infinity}', '["\\ud800"]', 'nul'])


def as_text(value: Any) -> Any:
    try:
        return json.dumps(value)
    except (ValueError, RecursionError):
        return value


def mostly(
    usual: st.SearchStrategy[Any], seldom: st.SearchStrategy[Any]
) -> st.SearchStrategy[Any]:
    """Draw the usual nine times in ten; `one_of` would weigh each alternative the same."""
    return st.integers(0, 9).flatmap(lambda draw: usual if draw else seldom)


def fitting(name: str) -> st.SearchStrategy[Any]:
    finite = st.floats(-1e6, 1e6)
    values = {
        'spatial_sort': st.fixed_dictionaries(
            {'field': st.just('spatial.p'), 'target': st.lists(finite, min_size=1, max_size=3)},
            optional={'max_distance': st.floats(0, 1e6)},
        ),
        'context_filter': conditions,
        'where': conditions | st.sampled_from([{}, {'kind': 'contact'}, {'topic': {'$ne': 'x'}}]),
        'pose': st.fixed_dictionaries({'position': st.lists(finite, min_size=3, max_size=3)}),
        'metadata': st.fixed_dictionaries({}, optional={'format': texts, 'stamp': numbers}),
        **dict.fromkeys(('numbers', 'params', 'results', 'default'), figures),
        'among': st.dictionaries(names, st.lists(amounts, max_size=3) | spans, max_size=2),
        'want': st.sampled_from(
            [{}, {'maximise': 'a'}, {'result': 'a', 'value': '1 N', 'tolerance': 2}, {'goal': 1}]
        ),
    }
    return values.get(name, contexts)


CLOSED: dict[str, Sequence[Any]] = {
    'analysis_type': [*ANALYSES, 'mood'],
    'as_of': ['', '#1', '2026-02-25T07:00:00Z', 'yesterday'],
    'collection': ['default', 'lab'],
    'command': ['/status', '/recall 3', '/forget mem_1', '/forget', '/SAVE: day', '/unknown', 'x'],
    'cursor': ['', 'x'],
    'end': ['2030-01-01T00:00:00Z', 'soon'],
    'key': ['', 'k'],
    'memory_ids': [[1], [2, 3], [30], [4], [5, 6], [0]],
    'order_by': ['onset', 'duration', 'peak_force'],
    'perception_type': PERCEPTION_TYPES,
    'strategy': ['HYBRID_ADVANCED', 'aggressive', 'other'],
    'session_id': ['open', 'ended', 'unknown', ''],
    'since': ['2026-02-25', '2026-02-25T07:00:00Z', 'yesterday'],
    'time_zone': ['', 'UTC', 'Europe/Berlin', 'Mars'],
    'until': ['2026-02-27', 'tomorrow'],
    'reason': ['asked for', 'asked for', 'it was wrong', ''],
    'skill': ['strike', 'strike', 'strike', 'pour', ' '],
    'start': ['2020-01-01', 'yesterday'],
}
"""What texts may be, where the declaration does not say it by its choices."""


def likely(field: Field) -> st.SearchStrategy[Any]:
    """Return values that the field may well take, for requests that get past the first check."""
    if field.choices:
        return st.sampled_from([*field.choices, 'other'])
    by_kind: dict[str, st.SearchStrategy[Any]] = {
        'text': texts,
        'integer': st.integers(-1, 12),
        'number': st.floats(-0.1, 1.1) | st.sampled_from([0, 1]),
        'flag': st.booleans(),
        'texts': st.lists(texts, max_size=3),
        'numbers': st.lists(st.integers(-1, 12), max_size=3),
        'json': mostly(fitting(field.name), objects | objects.map(as_text) | bad_json),
        'stamp': st.integers(0, 2**60) | numbers.map(lambda number: {'sec': number}),
    }
    if field.kind == 'text' and field.min_length > 1:
        return texts.map(lambda text: f'{text} was seen') | texts
    if field.name in CLOSED:
        return st.sampled_from(CLOSED[field.name])
    return by_kind[field.kind]


def arguments(request: type) -> st.SearchStrategy[dict[str, Any]]:
    wild = st.one_of(scalars, objects, st.binary(max_size=3), st.just({1, 2}), st.just(object()))
    each = {field.name: mostly(likely(field), wild) for field in get_fields(request)}
    required = {field.name for field in get_fields(request) if field.required}
    needed = {name: value for name, value in each.items() if name in required}
    optional = {name: value for name, value in each.items() if name not in required}
    known = st.fixed_dictionaries(needed, optional=optional)
    # Of a tool with many arguments hardly any request would have all of them right; what a tool
    # is about is its first one, required or not, and what it mostly refuses to do without.
    about = {**needed, **dict(list(each.items())[:1])}
    about |= {name: value for name, value in each.items() if name in ('reason', 'success')}
    simple = st.sampled_from([{}, *({name: value} for name, value in optional.items())]).flatmap(
        lambda one: st.fixed_dictionaries({**about, **one})
    )
    other = st.dictionaries(texts, scalars, min_size=1, max_size=3)
    return mostly(simple | known, other)


GENERATED = {tool.name: arguments(tool.request) for tool in list_tools()}


class Watched:
    """A robot whose file is looked at before and after each call."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._beside = checksums.connect(robot.memory.db.path)
        self._digested, self._checked = (-1, ''), -1
        self.outcomes: Counter[tuple[str, bool]] = Counter()
        robot.embed_all()
        for i in range(30):
            robot.save_perception(f'the red cup is seen {i}')
        self.open = robot.start_session(context={'env': {'sim_or_real': 'real'}}).session_id
        self.ended = robot.start_session().session_id
        robot.end_session(self.ended)

    def settle(self) -> int:
        """
        Have written what is written later: accesses, and the vectors of long turns.

        Return a number that is another one once anything was committed since.
        """
        self.robot.memory.accesses.flush()
        self.robot.embed_all()
        return int(self._beside.pragma('data_version'))

    def digest(self) -> str:
        version = self.settle()
        if self._digested[0] != version:
            found = hashlib.sha256()
            for table in TABLES:
                for row in self.robot.rows(f'SELECT * FROM {table}'):
                    found.update(repr(row).encode())
            self._digested = version, found.hexdigest()
        return self._digested[1]

    def check(self) -> None:
        """Look at the whole file where anything was committed since the last time, and ask."""
        robot = self.robot
        if self._checked != self.settle():
            check_file(robot.memory.db.path)
            missing = 'SELECT 1 FROM indexed WHERE coarse IS NULL AND form IS NULL'
            assert robot.rows(missing) == []
            place = {'field': 'spatial.p', 'target': [0, 0]}
            with contextlib.suppress(InvalidArgument):
                robot.recall(spatial_sort=place, n=1)
            assert robot.recall('the red cup', n=3).mode in ('hybrid', 'vec_only')
            self._checked = self.settle()
        robot.query_records(where={'task.success': True}, limit=1)

    def call(self, tool: Tool[Any, Any], given: dict[str, Any], *, fully: bool = True) -> Any:
        """
        Make a request; it must be answered in JSON, or refused in words without a change.

        Return the answer as plain JSON, None where it was refused.
        """
        if given.get('session_id') in ('open', 'ended'):
            given = {**given, 'session_id': getattr(self, given['session_id'])}
            if tool.name == 'end_session' and given['session_id'] == self.open:
                self.open = self.robot.start_session().session_id
        before = self.digest() if fully else ''
        refused = None
        try:
            answer = tool.run(self.robot.memory, given)
        except RobotMemoryError as error:
            refused = error
        self.outcomes[tool.name, refused is None] += 1
        if refused is None:
            plain = to_plain(answer)
            json.dumps(plain, allow_nan=False, ensure_ascii=False).encode()
            return plain
        assert not isinstance(refused, Internal)
        str(refused).encode()
        assert not fully or self.digest() == before
        return None
