"""Who a text says is near the robot, or away; nobody is near for being served or mentioned."""

from __future__ import annotations

import re
from functools import cache

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.rules.people import (
    ANYONE,
    CHILD,
    Person,
    find_speakers,
    find_unnamed,
    load_people,
)

_JOINS = compile_pattern(
    r'\s*(?:,|and|or|,\s*(?:and|or)|、|和|跟|与|以及|还有|及|或者?|还是)\s*(?:an?\s+|the\s+)?'
)


@cache
def _compile() -> dict[str, re.Pattern[str]]:
    near = load_people()['near']
    return {
        'after': compile_pattern(
            rf'(?: of \w+(?= (?:is|stands|sits)\b))?'
            rf'(?: and (?:his|her|their|an?|the) [\w -]{{2,30}}?(?= (?:is|are)\b))?'
            rf'[ ,]*(?:{"|".join(near["en_after"])})|(?:,|,就)?(?:{"|".join(near["zh_after"])})'
        ),
        'before': compile_pattern(rf'(?:{"|".join((*near["en_before"], *near["zh_before"]))})$'),
        'away': compile_pattern(rf'[ ,]*(?:{near["away_en"]})|(?:{near["away_zh"]})'),
        'else': compile_pattern(near['else']),
        'points': compile_pattern(near['points_en']),
        'manner': compile_pattern(near['manner_en']),
        'beside': compile_pattern(near['beside_zh']),
        'apart': compile_pattern(near['apart_zh']),
        'nobody': compile_pattern('|'.join((*near['nobody_en'], *near['nobody_zh']))),
    }


def find_near(folded: str, people: list[Person]) -> tuple[dict[str, bool], bool]:
    """Return who is near and who is known not to be, and whether nobody else is near."""
    words = _compile()
    near: dict[str, bool] = {}
    for place, person in enumerate(people):
        last = _skip_joined(folded, people, place)
        rest = folded[people[last].end :]
        if words['away'].match(rest):
            near[person.key] = False
        elif (
            words['after'].match(rest)
            or _goes_on(folded, people[last], words['after'])
            or (not person.is_pronoun and _is_named_near(folded, person))
        ):
            near[person.key] = True
    others = [*find_speakers(folded), *find_unnamed(folded, people)]
    if any(words['after'].match(folded[end:]) for _, end in others):
        near[ANYONE] = True
    if any(near.values()):
        near[ANYONE] = True
    only = _find_only(folded, people)
    if only is not None:
        return {**near, only: True, ANYONE: True}, True
    if nobody := words['nobody'].search(folded):
        around = folded[max(0, nobody.start() - 12) : nobody.end() + 12]
        if any(near.values()) and words['else'].search(around):
            return near, True
        return {key: False for key in near if key != ANYONE}, True
    if near.get(CHILD) is False and not any(found for key, found in near.items() if key != CHILD):
        near.pop(ANYONE, None)
    if near.get(ANYONE) is False:
        del near[ANYONE]
    return near, False


def names_near(folded: str, person: Person, people: list[Person]) -> bool:
    """Say whether a rule is about a person who is near: 'when Li is within 2 m', 离人半米."""
    words = _compile()
    last = _skip_joined(folded, people, people.index(person))
    rest = folded[people[last].end :]
    if words['points'].search(folded[: person.start]):
        return False
    if words['after'].match(rest):
        return True
    if words['manner'].search(folded[: person.start]):
        return False
    return bool(
        words['before'].search(folded[: person.start])
        or re.match(
            r'\s*(?:is|are) (?:there|here|present|in)\b|在场|在(?:[,，]|的时候|时|附近|旁)', rest
        )
        or (words['beside'].search(folded[: person.start]) and words['apart'].match(rest))
    )


def _skip_joined(folded: str, people: list[Person], place: int) -> int:
    """Return the place of the last of persons who are named together."""
    while place + 1 < len(people) and _JOINS.fullmatch(
        folded[people[place].end : people[place + 1].start]
    ):
        place += 1
    return place


def _goes_on(folded: str, person: Person, near: re.Pattern[str]) -> bool:
    """Say whether the next clause goes on about a person: 小李在车间里,就站在你旁边."""
    match = re.match(r'(?:都|也|们)?在[^,，。]{1,8}[,，]', folded[person.end :].replace('，', ','))
    return bool(match and near.match(folded[person.end + match.end() :]))


def _is_named_near(folded: str, person: Person) -> bool:
    """Say whether a person stands after 'near', 'beside' and the like."""
    before = folded[: person.start]
    match = re.search(
        r'\b(?:near|beside|next to|close to|alongside|past|around)\s+(?:the |a |an )?$'
        r'|(?:靠近|绕过)$'
        r'|(?:旁边|附近|周围|身边|边上|跟前|面前)(?:就|还|只|正|也|都)?(?:有|站着|坐着|围着|是)?(?:个|一个|一位|位|几个)?$',
        before,
    )
    return bool(match)


def _find_only(folded: str, people: list[Person]) -> str | None:
    """Return who alone is near."""
    near = load_people()['near']
    for person in people:
        name = re.escape(folded[person.start : person.end])
        for pattern in (*near['only_en'], *near['only_zh']):
            if re.search(pattern.replace('{name}', name), folded):
                return person.key
    return None
