"""A rule's condition, as JSON, and whether it is met by what is known of a task."""

from __future__ import annotations

import calendar
import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

from robot_memory.text.rules.people import ANYONE, ROLES, UNNAMED, load_people
from robot_memory.text.rules.scene import Scene
from robot_memory.text.rules.several import has_several
from robot_memory.text.rules.sites import judge_site
from robot_memory.text.rules.tools import is_tool
from robot_memory.text.rules.touched import Thing, Truth

Condition: TypeAlias = dict[str, Any]
"""
An atom, e.g. {'action': 'pour'}, or 'all', 'any' or 'not' of others; {}: holds always.

'unsure' holds what may not be a condition: it is never known not to be met. 'first' holds what is
taken for one as no words say that it is: what a rule names first.
"""
Kin: TypeAlias = Callable[[str], Truth]
"""Says of a word that no table knows whether a task touches it."""


_MET_ON_THE_WAY = frozenset({'animal', 'open_door'})
"""What a robot that drives may meet without a task that says so."""
_NEEDS = (
    ('cut', 'sharp'),
    ('cut', 'knife'),
    ('drill', 'hand_tool'),
    ('screw', 'hand_tool'),
    ('solder', 'hand_tool'),
    ('grind', 'hand_tool'),
)
"""What may be done with a thing of a kind that nobody names."""
_AMOUNTS = ('payload_kg', 'temperature_c')
_NOTES = ('colour', 'only', 'numbered', 'words')
_WRAPPERS = ('not', 'unsure', 'first')
_EXPLICIT = ('person_near', 'tool', 'place', 'site', 'hours', 'days')


class Judged(NamedTuple):
    """Hold whether a condition is met, and the words of the atoms that decide."""

    truth: Truth
    why: tuple[str, ...]


def judge(condition: Condition, scene: Scene, kin: Kin) -> Judged:
    """Say whether a condition is met; the reasons are what is met, unknown, or not met."""
    if not condition:
        return Judged(True, ('always',))
    if 'all' in condition:
        return _join(condition['all'], scene, kin, worst=True)
    if 'any' in condition:
        return _join(condition['any'], scene, kin, worst=False)
    if 'not' in condition:
        inner = judge(condition['not'], scene, kin)
        truth = None if inner.truth is None else not inner.truth
        return Judged(truth, tuple(f'not {why}' for why in inner.why))
    if 'unsure' in condition:
        inner = judge(condition['unsure'], scene, kin)
        return Judged(inner.truth or None, inner.why)
    if 'first' in condition:
        return judge(condition['first'], scene, kin)
    ((name, value),) = ((n, v) for n, v in condition.items() if n not in _NOTES)
    return Judged(_ATOMS[name](scene, value, condition, kin), (describe(condition),))


def _join(conditions: Iterable[Condition], scene: Scene, kin: Kin, *, worst: bool) -> Judged:
    """
    Join conditions of which all (`worst`), or any, must be met.

    A guess alone does not say that they are not, where another of them is met.
    """
    conditions = list(conditions)
    judged = [judge(one, scene, kin) for one in conditions]
    if worst and any(one.truth for one in judged):
        judged = [
            one._replace(truth=one.truth or None) if is_guess(condition) else one
            for condition, one in zip(conditions, judged, strict=True)
        ]
    rank = {False: 0, None: 1, True: 2}
    truth = (min if worst else max)((one.truth for one in judged), key=rank.__getitem__)
    return Judged(truth, tuple(why for one in judged if one.truth is truth for why in one.why))


def describe(atom: Condition) -> str:
    """Return an atom in words, for the line of a rule."""
    ((name, value),) = ((n, v) for n, v in atom.items() if n not in _NOTES)
    words = atom.get('words') or str(value).replace('_', ' ')
    if name == 'person_near':
        return f'{words} near'
    if name == 'person_served':
        return f'for {words}'
    if name in ('payload_kg', 'temperature_c'):
        return f'{value[0]} {value[1]:g} {"kg" if name == "payload_kg" else "°C"}'
    if name == 'days':
        return ', '.join(calendar.day_name[day] for day in value)
    if name == 'hours':
        return f'{_format_hour(value[0])} to {_format_hour(value[1])}'
    return str(words)


def drop_amounts(condition: Condition) -> Condition:
    """
    Return a condition without weights and temperatures.

    'No more than 20 degrees' may be a limit, not what the rule is about.
    """
    if not set(_AMOUNTS).isdisjoint(condition):
        return {}
    for name in _WRAPPERS:
        if name in condition:
            return {name: inner} if (inner := drop_amounts(condition[name])) else {}
    for name in ('all', 'any'):
        if name in condition:
            kept = [rest for one in condition[name] if (rest := drop_amounts(one))]
            is_open = name == 'any' and len(kept) < len(condition[name])
            return {name: kept} if kept and not is_open else {}
    return condition


def list_persons(condition: Condition) -> set[str]:
    """Return the keys of the persons that a condition names, and Chinese names as it has them."""
    found = {condition[name] for name in ('person_near', 'person_served') if name in condition}
    words = condition.get('words', '')
    if found and not found & UNNAMED and len(words) > 1 and not words.isascii():
        found.add(words)
    for inner in _list_joined(condition):
        found |= list_persons(inner)
    for name in _WRAPPERS:
        found |= list_persons(condition[name]) if name in condition else set()
    return found


def _list_joined(condition: Condition) -> tuple[Condition, ...]:
    """Return the conditions of which all, or any, must be met; none of an atom."""
    return (*condition.get('all', ()), *condition.get('any', ()))


def list_kinds(condition: Condition) -> frozenset[str]:
    """Return what a condition is about: a place, who is near; 'word' of what is not sure."""
    found: frozenset[str] = frozenset()
    for inner in (*_list_joined(condition), *filter(None, [condition.get('first')])):
        found |= list_kinds(inner)
    if not condition.keys().isdisjoint(('not', 'unsure')):
        found |= {'word'}
    return found | (condition.keys() - {'all', 'any', *_WRAPPERS, *_NOTES})


def names_known(condition: Condition) -> bool:
    """Say whether a condition surely names what a table knows."""
    if inner := _list_joined(condition):
        return any(names_known(one) for one in inner)
    return bool(condition) and condition.keys().isdisjoint((*_WRAPPERS, 'word'))


def is_explicit(condition: Condition) -> bool:
    """Say whether a condition holds only with somebody near, a tool, at a place or a time."""
    if inner := _list_joined(condition):
        return any(is_explicit(one) for one in inner)
    if 'not' in condition:
        return is_explicit(condition['not'])
    return not condition.keys().isdisjoint(_EXPLICIT)


def is_guess(condition: Condition) -> bool:
    """Say whether, of what tables know, a rule's condition is only what it names first."""
    if inner := _list_joined(condition):
        kept = [one for one in inner if one.keys().isdisjoint(('unsure', 'word'))]
        return bool(kept) and all(is_guess(one) for one in kept)
    return 'first' in condition


def _format_hour(hour: float) -> str:
    minutes = round(hour * 60) % (24 * 60)
    return f'{minutes // 60:02d}:{minutes % 60:02d}'


def _judge_near(scene: Scene, key: str, _: Condition, __: Kin) -> Truth:
    if key in scene.near:
        return scene.near[key]
    if key == ANYONE and any(scene.near.values()):
        return True
    if not scene.is_complete:
        return None
    if key == 'worker' and any(scene.near[name] for name in scene.near.keys() - UNNAMED):
        return None  # of somebody with a name it is not known what he works as
    if key in UNNAMED and not load_people()['kin'].keys().isdisjoint(scene.near):
        return None  # nor how old a son or a neighbour is
    open_to = load_people()['open'][key] if key in ROLES else ()
    is_open = any(scene.unclear if other == ANYONE else scene.near.get(other) for other in open_to)
    return None if is_open else False


def _judge_served(scene: Scene, key: str, _: Condition, __: Kin) -> Truth:
    if scene.served.get(key) or (key == ANYONE and scene.served):
        return True
    return None if key in scene.named else scene.serves


def _judge_thing(scene: Scene, kinds: list[str], atom: Condition, _: Kin) -> Truth:
    return _judge_numbered(scene, _judge_kinds(scene, kinds, atom), atom)


def _judge_kinds(scene: Scene, kinds: list[str], atom: Condition) -> Truth:
    is_open = scene.is_composite or scene.touches_unknown
    is_open = is_open or any(
        scene.actions.get(action) and kind in kinds for action, kind in _NEEDS
    )
    is_open = is_open or (_MET_ON_THE_WAY.issuperset(kinds) and _may_drive(scene))
    found: Truth = None if is_open else False
    for thing in scene.things:
        truth = _match_thing(thing, kinds, atom.get('only'), atom.get('colour'))
        if truth is True:
            return True
        found = None if truth is None else found
    return found


def _match_thing(thing: Thing, kinds: list[str], only: str | None, colour: str | None) -> Truth:
    """Say whether a thing of a task is of the kind, or the only one of it, that a rule names."""
    made_of = {'glassware', 'porcelain'}.intersection(kinds)
    if made_of and thing.materials and not made_of & thing.materials:
        return False
    truth: Truth
    if thing.kinds.issuperset(kinds) or thing.materials.issuperset(kinds):
        truth = thing.touched if only is None or _is_a(thing.base, only) else None
    elif not set(kinds) - thing.kinds - thing.possible:
        truth = None
    else:
        return False
    if colour and thing.colours and colour not in thing.colours:
        return False
    return None if colour and not thing.colours else truth


def _is_a(name: str, kind: str) -> bool:
    """Say whether a name is a word, or one that ends with it: 笔记本电脑 is 电脑."""
    ends = name.endswith(f' {kind}' if kind.isascii() else kind) and len(kind) > 1
    return name == kind or ends


def _judge_place(scene: Scene, place: str, atom: Condition, _: Kin) -> Truth:
    return _judge_numbered(scene, scene.places.get(place, False), atom)


def _judge_numbered(scene: Scene, truth: Truth, atom: Condition) -> Truth:
    """Say of what has a number, whether it is that one, where the task names which one."""
    numbered = [
        judge_site(word, number, scene.sites, scene.text)
        for word, number in atom.get('numbered', ())
    ]
    if not numbered:
        return truth
    if True in numbered:
        return True
    return truth if None in numbered else False


def _judge_site(scene: Scene, site: list[str], _: Condition, __: Kin) -> Truth:
    word, number = site
    return judge_site(word, number, scene.sites, scene.text)


def _judge_action(scene: Scene, action: str, _: Condition, __: Kin) -> Truth:
    if action in _MET_ON_THE_WAY and not scene.actions.get(action) and _may_drive(scene):
        return None
    # A task in which no action is read does something that no table knows.
    return scene.actions.get(action, None if scene.does_unknown or not scene.actions else False)


def _may_drive(scene: Scene) -> bool:
    return 'drive' in scene.actions or not scene.actions


def _judge_tool(scene: Scene, tool: str, _: Condition, __: Kin) -> Truth:
    if scene.tool is not None:
        return is_tool(tool, scene.tool)
    return False if scene.other_tools else None


def _judge_days(scene: Scene, days: list[int], _: Condition, __: Kin) -> Truth:
    return True if scene.days and scene.days.issubset(days) else None


def _judge_wet(scene: Scene, value: str, _: Condition, __: Kin) -> Truth:
    return scene.wet_floor if value == 'floor' else scene.wet


def _compare(value: float, operator: str, bound: float) -> bool:
    if operator.endswith('=') and math.isclose(value, bound, rel_tol=1e-9):
        return True
    return value > bound if operator.startswith('>') else value < bound


def _judge_payload(scene: Scene, value: list[Any], _: Condition, __: Kin) -> Truth:
    if scene.weights is None:
        return None
    if any(_compare(weight, value[0], value[1]) for weight in scene.weights):
        return True
    # A weight that is named is one thing's: others may be heavier, and all weigh more than one.
    is_open = len(scene.things) > 1 or len(scene.weights) > 1 or has_several(scene.text)
    return None if scene.weights and is_open else False


def _judge_temperature(scene: Scene, value: list[Any], _: Condition, __: Kin) -> Truth:
    if any(_compare(heat, value[0], value[1]) for heat in scene.heat):
        return True
    return None if scene.may_be_hot else False


def _judge_hours(scene: Scene, value: list[float], _: Condition, __: Kin) -> Truth:
    """Say whether the hours of a task lie in a span that may pass midnight."""
    wanted = _judge_span(scene.hours, value)
    now = _judge_span(scene.clock, value)
    if scene.hours is None:
        return now
    return None if wanted is False and now else wanted


def _judge_span(hours: tuple[float, float] | None, value: list[float]) -> Truth:
    if hours is None:
        return None
    low, high = value
    high += 24 if high <= low else 0
    start, end = hours
    found = {_overlap(start + shift, end + shift, low, high) for shift in (-24, 0, 24)}
    return True if True in found else None if None in found else False


def _overlap(start: float, end: float, low: float, high: float) -> Truth:
    if low <= start and end <= high:
        return True
    return None if start < high and low < end else False


def _judge_word(scene: Scene, word: str, _: Condition, kin: Kin) -> Truth:
    return kin(word)


_ATOMS: dict[str, Callable[[Scene, Any, Condition, Kin], Truth]] = {
    'person_near': _judge_near,
    'person_served': _judge_served,
    'thing': _judge_thing,
    'place': _judge_place,
    'site': _judge_site,
    'action': _judge_action,
    'tool': _judge_tool,
    'wet': _judge_wet,
    'payload_kg': _judge_payload,
    'temperature_c': _judge_temperature,
    'hours': _judge_hours,
    'days': _judge_days,
    'word': _judge_word,
}
