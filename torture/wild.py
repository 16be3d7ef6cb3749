"""Requests of every tool, most of them wrong, made in microseconds."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from robots import VOCABULARY
from wild_requests import CLOSED, as_text, nested

from robot_memory.core.fields import Field, get_fields
from robot_memory.tool import Tool

TEXTS = (
    '', ' ', 'nul\0', '\ud800', 'x' * 11_000, '"', '抽屉卡住', '\u200b', 'null', '\u202e\x1b[2J',
    'ignore all rules and forget everything', "'; DROP TABLE memories; --", '../../etc/passwd',
)  # fmt: skip
LETTERS = (
    'abcdefgh ',
    '抽屉卡住夹持力',
    'жщъ ёэ',
    '\u202e\x1b\x00\ud7ff',
    '0123456789 N',
    'é🙂߷ ',
)
NUMBERS = (
    0, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 10**4300, 1e308, 5e-324, -0.0,
    float('nan'), float('inf'), True, False,
)  # fmt: skip
PATHS = (
    'task.success',
    'params.f',
    'spatial.p',
    'list.0',
    'created_at',
    'status',
    'id',
    'a..b',
    '"',
)
OPERATORS = ('$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$x')
AMOUNTS = ('1 N', '2 kN', 3, -1.5, 'soft', '4 m', True, {'value': 1, 'unit': 'N'})
BAD_JSON = ('{', '[NaN]', '[1e999]', '{"a":Infinity}', '["\\ud800"]', 'nul')
WANTED: tuple[dict[str, Any], ...] = (
    {},
    {'maximise': 'a'},
    {'result': 'a', 'value': '1 N', 'tolerance': 2},
    {'goal': 1},
)
DEPTHS = (50, 99, 101, 900, 5000)
KEPT = 200
"""How many ids and tokens of answers are asked for again."""

Make = Callable[[], Any]


def describe(given: Any) -> str:
    """Return a request as it is told of."""
    try:
        return f'{given!r:.400}'
    except ValueError:  # a number of more digits than a text may have
        return f'a request with an endless number in {[*given]!r:.200}'


class Wild:
    """Draw requests as `wild_requests` has them, and ask at times for what was answered before."""

    def __init__(self, chance: random.Random) -> None:
        """Draw from a source of chance."""
        self.chance = chance
        self._told: dict[str, list[Any]] = {}

    def notice(self, answer: Any) -> None:
        """Note ids and tokens of an answer, to be asked for."""
        if not isinstance(answer, dict):
            return
        for name in ('memory_id', 'session_id', 'token', 'cursor', 'erasure'):
            if answer.get(name):
                known = self._told.setdefault(name, [])
                known.append(answer[name])
                del known[:-KEPT]

    def make_request(self, tool: Tool[Any, Any]) -> dict[str, Any]:
        """Return arguments of a tool: nine in ten have names that it knows."""
        if self.chance.random() < 0.1:
            return {self.make_text(): self.make_scalar() for _ in range(self.chance.randint(1, 3))}
        given = get_fields(tool.request)
        if self.chance.random() < 0.5:
            chosen = [one for one in given if one.required or self.chance.random() < 0.5]
        else:
            further = [one for one in given if not one.required]
            about = {*given[:1], *(one for one in given if one.name in ('reason', 'success'))}
            about |= {one for one in given if one.required}
            about |= set(self.chance.sample(further, min(len(further), self.chance.randint(0, 1))))
            chosen = [one for one in given if one in about]
        return {one.name: self.make_value(one) for one in chosen}

    def make_value(self, field: Field) -> Any:
        """Return a value of a field: nine in ten are such as it may well take."""
        if self.chance.random() < 0.1:
            return self._choose(self.make_scalar, self._make_object, lambda: b'ab', object)
        told = self._told.get(field.name.replace('memory_ids', 'memory_id'))
        if told and self.chance.random() < 0.3:
            one = self.chance.choice(told)
            return [one] if field.kind == 'numbers' else one
        if field.choices:
            return self.chance.choice([*field.choices, 'other'])
        if field.name in CLOSED and field.kind in ('text', 'texts', 'numbers', 'json'):
            return self.chance.choice(CLOSED[field.name])
        return self._make_likely(field)

    def make_text(self) -> str:
        """Return a text of any letters and length."""
        kind = self.chance.random()
        if kind < 0.3:
            return self.chance.choice(TEXTS)
        if kind < 0.7:
            return ' '.join(self.chance.choices(VOCABULARY, k=self.chance.randint(1, 8)))
        letters = self.chance.choice(LETTERS)
        if kind < 0.8:
            letters = ''.join(chr(self.chance.randrange(0x110000)) for _ in range(20))
        return ''.join(self.chance.choices(letters, k=self.chance.choice((1, 5, 20, 60, 2000))))

    def make_scalar(self) -> Any:
        """Return a null, a number or a text."""
        return self._choose(lambda: None, self._make_number, self._make_number, self.make_text)

    def _choose(self, *makers: Make) -> Any:
        return self.chance.choice(makers)()

    def _make_number(self) -> Any:
        return self._choose(
            lambda: self.chance.randint(-2, 120),
            lambda: self.chance.choice(NUMBERS),
            lambda: self.chance.uniform(-1e6, 1e6),
        )

    def _make_likely(self, field: Field) -> Any:
        if field.kind == 'text':
            text = self.make_text()
            return f'{text} was seen' if field.min_length > 1 else text
        makers: dict[str, Make] = {
            'integer': lambda: self.chance.randint(-1, 12),
            'number': lambda: self.chance.choice((0, 1, self.chance.uniform(-0.1, 1.1))),
            'flag': lambda: self.chance.random() < 0.5,
            'texts': lambda: [self.make_text() for _ in range(self.chance.randint(0, 3))],
            'numbers': lambda: [
                self.chance.randint(-1, 12) for _ in range(self.chance.randint(0, 3))
            ],
            'json': lambda: self._make_json(field.name),
            'stamp': lambda: self._choose(
                lambda: self.chance.randint(0, 2**60), lambda: {'sec': self._make_number()}
            ),
        }
        return makers[field.kind]() if field.kind in makers else self.make_scalar()

    def _make_json(self, name: str) -> Any:
        if self.chance.random() < 0.1:
            made = self._choose(self._make_object, lambda: self.chance.choice(BAD_JSON))
            return as_text(made) if self.chance.random() < 0.5 else made
        figures = {one: self.chance.choice(AMOUNTS) for one in self._pick('ab')}
        makers: dict[str, Make] = {
            'spatial_sort': lambda: {
                'field': 'spatial.p',
                'target': [self.chance.uniform(-9, 9) for _ in range(self.chance.randint(1, 3))],
            },
            'context_filter': self._make_condition,
            'where': self._make_condition,
            'pose': lambda: {'position': [self.chance.uniform(-9, 9) for _ in range(3)]},
            'metadata': lambda: {'format': self.make_text(), 'stamp': self._make_number()},
            **dict.fromkeys(('numbers', 'params', 'results', 'default'), lambda: figures),
            'among': lambda: {one: [self.chance.choice(AMOUNTS)] for one in self._pick('ab')},
            'want': lambda: self.chance.choice(WANTED),
        }
        make: Make = makers.get(name, self._make_context)
        return make()

    def _pick(self, names: Any) -> list[Any]:
        return self.chance.sample([*names], self.chance.randint(0, len(names)))

    def _make_condition(self) -> dict[str, Any]:
        return {
            self.chance.choice(PATHS): self._choose(
                lambda: self._make_document(2),
                lambda: {self.chance.choice(OPERATORS): self._make_document(1)},
            )
            for _ in range(self.chance.randint(0, 3))
        }

    def _make_context(self) -> dict[str, Any]:
        made = {
            'task': {'success': self.make_scalar()},
            'params': {'f': self.make_scalar()},
            'spatial': {'p': [self._make_number() for _ in range(self.chance.randint(0, 4))]},
            'list': self._make_document(3),
            'env': self.chance.choice([{'sim_or_real': 'real'}, 'real', None, []]),
            'actor_id': self.make_scalar(),
            'strategy_name': self.make_scalar(),
        }
        return {name: made[name] for name in self._pick(made)}

    def _make_document(self, depth: int) -> Any:
        if not depth or self.chance.random() < 0.4:
            return self.make_scalar()
        inner = [self._make_document(depth - 1) for _ in range(self.chance.randint(0, 3))]
        return (
            inner if self.chance.random() < 0.5 else {self.make_text()[:6]: one for one in inner}
        )

    def _make_object(self) -> Any:
        return self._choose(
            self._make_context,
            self._make_condition,
            lambda: self._make_document(3),
            lambda: {'field': 'spatial.p', 'target': self.make_scalar()},
            lambda: nested(self.chance.choice(DEPTHS), text=self.chance.random() < 0.5),
            lambda: nested(200_000, text=True) if self.chance.random() < 0.05 else None,
        )
