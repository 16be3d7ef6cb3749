"""What is known of a task: what its text touches, and what the situation says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.rules.lexicon import (
    Mention,
    find_mentions,
    is_part_of_word,
    load_tables,
    name_concept,
)
from robot_memory.text.rules.nearness import find_near
from robot_memory.text.rules.normalising import normalise
from robot_memory.text.rules.people import (
    ANYONE,
    UNNAMED,
    Person,
    find_called,
    find_people,
    key_of,
    list_roles_of,
    mask_people,
    name_called,
)
from robot_memory.text.rules.quantities import (
    find_days,
    find_span_of_day,
    find_temperatures,
    find_weights,
    load_scene,
    parse_clock,
    parse_stamp,
)
from robot_memory.text.rules.service import find_served
from robot_memory.text.rules.sites import Site, read_sites
from robot_memory.text.rules.tools import find_mounted, name_tool
from robot_memory.text.rules.touched import Named, Thing, Truth, read_things
from robot_memory.text.rules.unknown import does_unknown, touches_unknown

_IMPLIED: tuple[tuple[str, str, bool | None], ...] = (
    ('carry', 'lift', True),
    ('lift', 'grasp', True),
    ('grasp', 'lift', None),
    ('grasp', 'carry', None),
)
"""Who carries lifts, who lifts grips, and who grips may lift and carry."""
WARM = 45.0
"""What is above this, in degrees Celsius, is hot."""
_MOVING = frozenset({'drive', 'carry', 'lift', 'grasp'})
"""What is done where something is only brought from one place to another."""


@dataclass
class Scene:
    """
    Hold what is known of a task and its situation.

    `near` says of persons whether they are near; `is_complete`: nobody else is; `unclear`: of
    somebody who is near nothing is known. `served` likewise,
    where `serves` says whether anybody else may be served. `weights` are kilograms, None: unknown.
    `heat` are degrees Celsius; `may_be_hot`: something may be hot. `hours` is
    when the text wants it done, on which `days` (0: Monday), `clock` what time it is; `pointed`
    are places that things point to, `sites` those with a number; `stays`: the situation says
    where; `named` are the persons in the text;
    `does_unknown`: a command begins with a verb that no table knows; `touches_unknown`: so does a
    thing; `is_composite`: things that nobody names are touched, as where a table is set.
    """

    near: dict[str, bool] = field(default_factory=dict)
    is_complete: bool = False
    unclear: bool = False
    served: dict[str, bool] = field(default_factory=dict)
    serves: Truth = False
    things: list[Thing] = field(default_factory=list)
    places: dict[str, Truth] = field(default_factory=dict)
    pointed: dict[str, Truth] = field(default_factory=dict)
    sites: dict[Site, Truth] = field(default_factory=dict)
    stays: bool = False
    actions: dict[str, Truth] = field(default_factory=dict)
    tool: str | None = None
    other_tools: bool = False
    wet: Truth = False
    wet_floor: Truth = False
    weights: list[float] | None = field(default_factory=list)
    heat: list[float] = field(default_factory=list)
    may_be_hot: bool = False
    days: frozenset[int] = frozenset()
    hours: tuple[float, float] | None = None
    clock: tuple[float, float] | None = None
    named: frozenset[str] = frozenset()
    does_unknown: bool = False
    touches_unknown: bool = False
    is_composite: bool = False
    text: str = ''


def read_scene(
    text: str, situation: Mapping[str, Any] | None = None, known: Iterable[str] = ()
) -> Scene:
    """
    Read what is known of a task.

    `situation` may say `people_near` (all who are near), `tool`, `place` and `time`; `known` are
    keys of persons whose names rules mention.
    """
    shown, folded = normalise(text)
    people = find_people(shown, known)
    scene = Scene(text=folded, named=frozenset(name_called(shown, people)))
    unnamed = mask_people(folded, people)
    scene.near, scene.is_complete = find_near(folded, people)
    scene.unclear = bool(scene.near.get(ANYONE)) and not any(
        near for key, near in scene.near.items() if key != ANYONE
    )
    scene.is_composite = bool(_compile()['composite'].search(unnamed))
    clauses = _split_clauses(folded)
    scene.does_unknown = does_unknown(unnamed, _split_clauses(unnamed))
    scene.touches_unknown = touches_unknown(unnamed, clauses)
    named: list[Named] = []
    excluded: list[tuple[int, int]] = []
    for start, end in clauses:
        excluded += [(start + a, start + b) for a, b in _find_excluded(unnamed[start:end])]
        named += _read_clause(scene, unnamed, start, end, people)
    done = {action for action, truth in scene.actions.items() if truth}
    moves = bool(done) and done <= _MOVING
    if _compile()['way'].search(unnamed):
        _raise(scene.actions, 'drive', True)
    if _compile()['drills'].search(unnamed):
        _raise(scene.actions, 'drill', True)
    for _, _, tool in find_mounted(unnamed):
        scene.tool, scene.other_tools = tool, True
    scene.things = read_things(named)
    for action, implied, truth in _IMPLIED:
        if action in scene.actions:
            _raise(scene.actions, implied, scene.actions[action] and truth)
    _read_weights_and_heat(scene, unnamed)
    _read_wetness(scene, unnamed)
    scene.served, scene.serves = find_served(folded, people, scene.actions, _feeds(scene))
    hands = scene.served or _compile()['to_speaker'].search(folded)
    if hands and scene.actions.get('carry'):
        _raise(scene.actions, 'hand_over', None)
    scene.hours, scene.days = find_span_of_day(folded), find_days(folded)
    scene.sites = read_sites(folded, excluded, moves=moves)
    _apply_situation(scene, situation or {})
    _read_pointed(scene)
    return scene


def _read_pointed(scene: Scene) -> None:
    """Note the places that things point to; where another is named, they may stand there."""
    is_named = any(scene.places.values())
    for place, truth in scene.pointed.items():
        if place not in scene.places and (truth or not scene.stays):
            _raise(scene.places, place, None if is_named else truth)


def _feeds(scene: Scene) -> bool:
    return any(
        thing.touched is not False and {'food', 'drink', 'sample'} & (thing.kinds | thing.possible)
        for thing in scene.things
    )


@cache
def _compile() -> dict[str, re.Pattern[str]]:
    table = load_scene()
    pairs = {
        'clause': f'{table["clause"]["en"]}|{table["clause"]["zh"]}',
        'exclude': '|'.join((*table['exclude']['en'], *table['exclude']['zh'])),
        'near_only': f'{table["exclude"]["near_only_en"]}|{table["exclude"]["near_only_zh"]}',
        'left_en': table['exclude']['left_en'],
        'left_zh': table['exclude']['left_zh'],
        'composite': '|'.join((*table['composite']['en'], *table['composite']['zh'])),
        'before': table['reference']['en'],
        'after': table['reference']['zh'],
        'other': f'{table["other"]["en"]}|{table["other"]["zh"]}',
        'imperative': table['other']['imperative_zh'],
        'done': f'{table["other"]["done_en"]}|{table["other"]["done_zh"]}',
        'wet': f'{table["wet"]["wet_en"]}|{table["wet"]["wet_zh"]}',
        'maybe_wet': f'{table["wet"]["maybe_en"]}|{table["wet"]["maybe_zh"]}',
        'dry': f'{table["wet"]["dry_en"]}|{table["wet"]["dry_zh"]}',
        'to_speaker': f'{table["to_speaker"]["en"]}|{table["to_speaker"]["zh"]}',
        'way': f'{table["way"]["en"]}|{table["way"]["zh"]}',
        'floor': f'{table["wet"]["floor_en"]}|{table["wet"]["floor_zh"]}',
        'drills': table['drills']['zh'],
    }
    return {name: compile_pattern(pattern) for name, pattern in pairs.items()}


def _split_clauses(folded: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for match in _compile()['clause'].finditer(folded):
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, len(folded)))
    return [(start, end) for start, end in spans if folded[start:end].strip()]


def _read_clause(
    scene: Scene, folded: str, start: int, end: int, people: list[Person]
) -> list[Named]:
    """Read the actions, places and tools of a clause; return its mentions with their truth."""
    clause = folded[start:end]
    excluded = _find_excluded(clause)
    others = _is_of_others(clause, start, people)
    named: list[Named] = []
    on_way: set[str] = set()
    mentions = find_mentions(clause)
    for place, mention in enumerate(mentions):
        is_open = (
            is_part_of_word(clause, mentions, place)
            or others
            or any(low <= mention.start < high for low, high in excluded)
        )
        truth: Truth = None if is_open or _is_reference(clause, mention) else True
        named.append((clause, mention, truth))
        for sense in mention.senses:
            # What is excluded, or done by others, is read from few words: it stays open.
            is_sure = not is_open and sense.level not in ('maybe', 'rule')
            if sense.kind == 'tool' and is_sure:
                scene.tool, scene.other_tools = sense.concept, True
            elif sense.kind == 'place':
                is_there = sense.level != 'maybe' and (others or not is_open)
                known = scene.places if sense.level == 'is' else scene.pointed
                _raise(known, sense.concept, is_there or None)
                if is_there and sense.level == 'is' and _is_on_a_way(clause, mention):
                    on_way.add(sense.concept)
                if is_there and _is_passed(clause, mention):
                    _raise(scene.actions, 'drive', True)
            elif sense.kind == 'action':
                does = is_sure and not _is_past(clause, mention)
                _raise(scene.actions, sense.concept, does or None)
    if len(on_way) > 1:
        _raise(scene.actions, 'drive', True)
    return named


def _raise(known: dict[str, Truth], name: str, truth: Truth) -> None:
    """Note what is so, or may be; what is so stays."""
    known[name] = True if truth or known.get(name) else None


def _find_excluded(clause: str) -> list[tuple[int, int]]:
    words, found = _compile(), []
    for match in words['exclude'].finditer(clause):
        rest = clause[match.end() :]
        if words['near_only'].match(match[0]):
            near = re.match(
                r"\s*(?:[\w'-]+\s+){0,2}[\w'-]+" if rest[:1].isascii() else r'.{0,8}', rest
            )
            found.append((match.start(), match.end() + (near.end() if near else 0)))
            continue
        found.append((match.start(), len(clause)))
    for name in ('left_en', 'left_zh'):
        for match in words[name].finditer(clause):
            found.append(match.span())
    return found


def _is_of_others(clause: str, start: int, people: list[Person]) -> bool:
    """Say whether a clause tells what somebody does, not what the robot is to do."""
    words = _compile()
    if words['imperative'].match(clause):
        return False
    if words['other'].match(clause.strip()):
        return True
    stripped = len(clause) - len(clause.lstrip())
    for person in people:
        at = person.start - start - stripped
        if at in (0, 2, 4) and not person.is_pronoun and clause.strip()[:at].strip() in (
            '', 'a', 'as', 'an', 'the', 'and', 'our',
        ):  # fmt: skip
            rest = clause[person.end - start :]
            return not re.match(r"'s|的|要的|点的|用的|\s*(?:,|and\b)", rest)
    return False


def _is_reference(clause: str, mention: Mention) -> bool:
    words = _compile()
    return bool(
        words['before'].search(clause[: mention.start])
        or words['after'].match(clause[mention.end :])
    )


def _is_passed(clause: str, mention: Mention) -> bool:
    """Say whether the way leads along a place."""
    before = clause[: mention.start]
    return bool(
        re.search(r'\b(?:up|down|along|through|across|over|via)\s(?:the )?$|沿着?$', before)
    )


def _is_on_a_way(clause: str, mention: Mention) -> bool:
    """Say whether a place is where a way begins or ends: from the kitchen to the dining room."""
    before = clause[: mention.start]
    return bool(
        re.search(
            r"\b(?:from|to|into|out of|in|inside)\s(?:the |our |\w+'s )?$"
            r'|(?:从|到|回|进|去|往|向)$',
            before,
        )
    )


def _is_past(clause: str, mention: Mention) -> bool:
    """Say whether a form such as 'washed' tells what was done."""
    if mention.form != 'ed':
        return False
    before = clause[: mention.start]
    return not re.search(
        r'\b(?:must|should|to|may|can|shall|gets?|needs?|wants?)\b[\w ]*$', before
    )


def _read_weights_and_heat(scene: Scene, folded: str) -> None:
    weights = [value for value, *_ in find_weights(folded)]
    lifts = scene.actions.get('carry', False) is not False or 'lift' in scene.actions
    scene.weights = weights or (None if lifts else [])
    scene.heat = [value for value, *_ in find_temperatures(folded)]
    tables = load_tables()
    for mention in find_mentions(folded):
        for sense in mention.senses:
            heat = tables[sense.kind].get(sense.concept, {}).get('heat')
            if heat == 'hot' and (sense.kind == 'thing' or scene.actions.get(sense.concept)):
                scene.heat.append(100.0)
            elif heat == 'maybe' and not _is_cold(folded, mention):
                scene.may_be_hot = True
    if any(heat > WARM for heat in scene.heat):
        scene.things = [
            replace(thing, possible=thing.possible | {'hot_drink'})
            if 'drink' in thing.kinds
            else thing
            for thing in scene.things
        ]


def _is_cold(folded: str, mention: Mention) -> bool:
    around = folded[max(0, mention.start - 12) : mention.end + 3]
    return bool(re.search(r'\b(?:cold|iced|chilled|frozen|unheated)\b|冰|冷|凉', around))


def _read_wetness(scene: Scene, folded: str) -> None:
    words = _compile()
    for sentence in re.split(r'[.;!?。；！？]', folded):
        if words['dry'].search(sentence) and not words['wet'].search(sentence):
            continue
        wet = bool(words['wet'].search(sentence))
        if wet and words['floor'].search(sentence):
            scene.wet_floor = True
        if wet:
            scene.wet = True
        elif scene.wet is False and words['maybe_wet'].search(sentence):
            scene.wet = None
    if scene.actions.get('wash'):
        scene.wet = True
    if scene.wet is False and any('liquid' in thing.kinds for thing in scene.things):
        scene.wet = None


def _apply_situation(scene: Scene, situation: Mapping[str, Any]) -> None:
    """Add what the situation says; its people are all who are near."""
    people = situation.get('people_near')
    if people is not None:
        near = {key_of(name): True for name in people}
        near |= {role: True for name in people for role in list_roles_of(name)}
        near |= {key: True for name in people for key in find_called(name)}
        if not UNNAMED.isdisjoint(near):
            near[ANYONE] = True
        scene.unclear = ANYONE in {key_of(name) for name in people}
        scene.near = {**dict.fromkeys(scene.near.keys() - {ANYONE}, False), **near}
        scene.is_complete = True
    if situation.get('tool'):
        scene.other_tools = True
        scene.tool = name_tool(situation['tool'])
        scene.text += f' {situation["tool"]}'.lower()
    if situation.get('place'):
        name = name_concept(situation['place'], 'place')
        scene.stays = True
        if name:
            scene.places[name] = True
        folded = normalise(situation['place'])[1]
        scene.sites |= read_sites(folded)
        scene.text += f' {folded}'
    time = str(situation.get('time') or '')
    stamp, hour = parse_stamp(time), parse_clock(time)
    if stamp is not None and not scene.days:
        scene.days = frozenset({stamp.weekday()})
    if hour is not None:
        scene.clock = (hour, hour + 1 / 60)
