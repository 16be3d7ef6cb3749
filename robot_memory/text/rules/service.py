"""Whom a task serves: who is to eat, drink or get what is prepared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.rules.people import ANYONE, CHILD, ROLES, Person, load_people

_SERVING = ('hand_over', 'pour', 'cut', 'heat')


@cache
def _compile() -> tuple[re.Pattern[str], re.Pattern[str]]:
    served = load_people()['served']
    before = '|'.join((*served['en_before'], *served['zh_before']))
    after = '|'.join((*served['en_after'], *served['zh_after']))
    return compile_pattern(rf'(?:{before})(?:the |our |poor |little |dear )?$'), compile_pattern(
        after
    )


def find_served(
    folded: str, people: list[Person], actions: Mapping[str, bool | None], feeds: bool
) -> tuple[dict[str, bool], bool | None]:
    """
    Return who is served, and whether anybody else may be (None) or is not (False).

    `feeds`: the task touches food, drinks or samples.
    """
    served = {}
    groups = False
    for person in people:
        if not is_served(folded, person):
            continue
        groups |= person.key in (ANYONE, *ROLES)
        if person.key != ANYONE:
            served[person.key] = True
    if groups:
        return served, None
    if served or not feeds:
        return served, False
    prepares = _does(folded, 'serves') or any(name in actions for name in _SERVING)
    return served, None if prepares and not _only_stores(folded) else False


def is_served(folded: str, person: Person) -> bool:
    """Say whether a text has something made for, brought to or given to a person."""
    before, after = _compile()
    if after.match(folded[person.end :]):
        return True
    if re.match(r'(?:的)?(?:旁边|附近|身边)', folded[person.end :]):
        return False
    found = before.search(folded[: person.start])
    joined = re.search(r'(?:\band|和|、|or)\s*$', folded[: person.start])
    return bool(found or (joined and person.key != CHILD and _is_listed(folded, person)))


def _is_listed(folded: str, person: Person) -> bool:
    """Say whether a person is named after another who is served: to Anna and Grandma."""
    return bool(
        re.search(
            r'\b(?:for|to|give|serve|bring|hand|make|pour)\s+[\w.]+(?: [\w.]+)?(?:,| and| or)*\s*'
            r'(?:and |or )?$'
            r'|(?:给|为)[^,，。]{1,6}(?:和|、)$',
            folded[: person.start],
        )
    )


def _only_stores(folded: str) -> bool:
    return _does(folded, 'stores') and not _does(folded, 'prepares')


def _does(folded: str, name: str) -> bool:
    """Say whether a text has words of a list of people.toml."""
    return bool(re.search(load_people()['served'][name], folded))
