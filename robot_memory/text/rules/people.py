"""Who a text names: persons by one key in both languages, children, and anybody."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.toml_tables import load_toml

ANYONE, CHILD = 'anyone', 'child'
ROLES = ('elderly', 'visitor', 'patient', 'worker')
UNNAMED = frozenset((ANYONE, CHILD, *ROLES))
"""Keys of people without a name."""
_AGE = compile_pattern(r'\(\s*(?:aged? |about |约)?(\d{1,3})\s*(?:岁|years?(?: old)?)?\s*\)')
_CHILD_UNTIL, _OLD_FROM = 14, 65
_OF_MANY = frozenset((ANYONE, *ROLES))
_OLD = frozenset(('grandma', 'grandpa'))
_PRONOUN = compile_pattern(
    r'\b(?:he|she|him|her(?!e)|his|hers|himself|herself|they|them|their)\b|他们?|她们?'
)
_CAPITAL, _SMALL = '[A-ZÀ-ÖØ-Þ]', '[a-zß-öø-ſ]'
_NAME, _LONG_NAME = f'{_CAPITAL}{_SMALL}+', f'{_CAPITAL}{_SMALL}{{2,14}}'
_NO_NAME = '(?!孙[子女](?:们|[在就也正都手面床的弄做倒端拿送切盛准保至隔拉]|$))'
"""A grandchild, and nobody of the family 孙."""
_NICKNAME = compile_pattern(
    r'(?![天常刚慢好每渐轻多久偷悄往个人处时年家看试等谢谢听])([\u4e00-\u9fff])\1|[阿小老][\u4e00-\u9fff]'
)
"""A doubled character that is no adverb, verb or measure, or one with a prefix of nicknames."""
_NO_ROOM = (
    r"(?!(?:['’]s?)? (?:\w+ )?(?:workshop|shop|room|station|office|desk|bench|booth|lodge|area)"
    r's?\b|[房室间站坊台]|办公|休息|值班)'
)
"""What is no person: the carpenter's workshop, 护士站."""
_SPEAKS_OF_SELF = compile_pattern(r"\b(?:I|I'm|[Mm]y|[Mm]e)\b|我(?!们)")
_SPEAKER = compile_pattern(r'\b(?:i|i.m|me|we)\b|我们?')


@dataclass(frozen=True)
class Person:
    """Hold where somebody is named; `key` is the same in both languages."""

    key: str
    start: int
    end: int
    is_pronoun: bool = False


@cache
def load_people() -> dict[str, Any]:
    """Return people.toml."""
    return load_toml(__file__, 'people.toml')


def key_of(name: str) -> str:
    """Return the key of a name: 'li' of Li, 小李 and Li Lei; 'chen' of Dr. Chen and 陈博士."""
    name = _AGE.sub('', name)
    folded = name.strip().lower()
    found = [
        person
        for person in find_people(name, known=())
        if person.start == 0 or person.end == len(name.strip())
    ]
    if found:  # 'the gardener Li' is Li
        return next(filter(is_named, found), found[0]).key
    if re.fullmatch('[\u4e00-\u9fff]{2,3}', folded) and folded[0] in _han_keys():
        return _han_keys()[folded[0]]
    return re.sub(rf'^(?:(?:{load_people()["titles"]["en"]})\.?\s+)+', '', folded)


def list_roles_of(name: str) -> set[str]:
    """Return what a person who is called so is: 'guest (84)' is elderly, a cook's boy a child."""
    key, age = key_of(name), _AGE.search(name)
    roles = {key, *(person.key for person in find_people(name))} & UNNAMED
    if key in _OLD or (age and int(age[1]) >= _OLD_FROM):
        roles.add('elderly')
    if age and int(age[1]) < _CHILD_UNTIL:
        roles.add(CHILD)
    return roles


def find_people(text: str, known: Iterable[str] = ()) -> list[Person]:
    """
    Return who is named in a text, in its order, pronouns as the person last named.

    `known` are keys of persons, and Chinese names, which are looked for as well.
    """
    found: dict[tuple[int, int], Person] = {}
    for key, pattern in (*_compile_names(), *_compile_roles()):
        for match in pattern.finditer(text):
            _add(found, Person(key or _key_of_match(match), *match.span()))
    names = {key for key in known if key not in UNNAMED}
    latin = '|'.join(sorted(re.escape(name) for name in names if name.isascii()))
    han = '|'.join(sorted(re.escape(name) for name in names if not name.isascii()))
    if latin:
        for match in re.finditer(rf'(?<!\w)(?:{latin})(?!\w)', text.lower()):
            _add(found, Person(match[0], *match.span()))
    if han:
        for match in re.finditer(han, text):
            _add(found, Person(key_of(match[0]), *match.span()))
    for match in _capitalised(text):
        _add(found, Person(match[1].lower(), *match.span()))
    return _resolve(text, sorted(found.values(), key=lambda person: person.start))


def find_named(text: str) -> frozenset[str]:
    """Return the keys of the persons whom a text names."""
    if text.isascii() and text.islower():  # names have capitals: 'mother' is left
        return frozenset(
            key for key, pattern in _compile_roles() if key not in UNNAMED and pattern.search(text)
        )
    return frozenset(person.key for person in find_people(text) if is_named(person))


def is_named(person: Person) -> bool:
    """Say whether a person is said by a name, or as one of a family: 'mother'."""
    return not person.is_pronoun and person.key not in UNNAMED


@cache_texts(2048)
def find_called(text: str) -> Mapping[str, str]:
    """
    Return how persons are called in a text, by key: by a name or by what they are.

    Unlike `find_people` it tells a nurse from a cook, and a son from a neighbour; of people of
    many, such as guests, the key of all.
    """
    return name_called(text, find_people(text))


def name_called(text: str, people: Iterable[Person]) -> dict[str, str]:
    """Return what `find_called` does, of a text in which persons were found."""
    found = {
        person.key: text[person.start : person.end]
        for person in people
        if not person.is_pronoun and person.key not in (ANYONE, 'worker')
    }
    for key, pattern in _compile_called():
        match = pattern.search(text)
        if match:
            found.setdefault(key, match[0])
    return found


def name_actor(actor_id: str) -> str:
    """Return the id of an actor as a person is named: 'child:ben' and 'tom_k' as Ben and Tom K."""
    return ' '.join(word[:1].upper() + word[1:] for word in re.split(r'[\W_]+', actor_id) if word)


def compile_names(keys: Iterable[str]) -> re.Pattern[str] | None:
    """Compile what finds persons of some keys as they are written, but for occupations and kin."""
    tables = load_people()
    names = sorted(set(keys) - UNNAMED - tables['occupations'].keys() - tables['kin'].keys())
    written = [rf'(?<!\w){re.escape(one)}(?!\w)' if one.isascii() else one for one in names]
    return re.compile('|'.join(written), re.IGNORECASE) if written else None


def speaks_of_self(text: str) -> bool:
    """Say whether who says a text speaks of himself: 'my tummy', 我对鸡蛋过敏."""
    return _SPEAKS_OF_SELF.search(text) is not None


def tells_of_person(text: str) -> bool:
    """Say whether a text tells of somebody: by a name, by what he is, or of the speaker."""
    return bool(find_called(text) or list_nicknames(text)) or speaks_of_self(text)


def list_nicknames(text: str) -> set[str]:
    """Return what Chinese children and friends may be called in a text: 豆豆, 阿凯; not 慢慢."""
    return {match[0] for match in _NICKNAME.finditer(text)}


def find_speakers(folded: str) -> list[tuple[int, int]]:
    """Return where the speaker names himself."""
    return [match.span() for match in _SPEAKER.finditer(folded)]


def find_unnamed(folded: str, people: Iterable[Person]) -> list[tuple[int, int]]:
    """Return where a pronoun stands for somebody of whom nothing else is known."""
    known = {(person.start, person.end) for person in people}
    return [span for match in _PRONOUN.finditer(folded) if (span := match.span()) not in known]


def mask_people(folded: str, people: Iterable[Person]) -> str:
    """
    Return a text without the names in it, in the same length: 汤姆 is no soup.

    Nor, in Chinese, without occupations: 车间主任 is no workshop.
    """
    return blank(
        folded,
        (
            person
            for person in people
            if is_named(person)
            or (person.key == 'worker' and not folded[person.start : person.end].isascii())
        ),
    )


def blank(folded: str, people: Iterable[Person]) -> str:
    """Return a text without some persons, in the same length."""
    for person in people:
        gap = '_' * (person.end - person.start)
        folded = f'{folded[: person.start]}{gap}{folded[person.end :]}'
    return folded


def _add(found: dict[tuple[int, int], Person], person: Person) -> None:
    for start, end in list(found):
        if start < person.end and person.start < end:
            return
    found[person.start, person.end] = person


def _resolve(text: str, named: list[Person]) -> list[Person]:
    """Return persons with pronouns as those who were named before them."""
    people = list(named)
    for match in _PRONOUN.finditer(text.lower()):
        before = [one for one in named if one.end <= match.start() and one.key not in _OF_MANY]
        if before:
            people.append(Person(before[-1].key, *match.span(), is_pronoun=True))
    return sorted(people, key=lambda person: person.start)


def _key_of_match(match: re.Match[str]) -> str:
    groups = match.groupdict()
    if groups.get('han'):
        return _han_keys()[groups['han']]
    if groups.get('called'):
        return str(groups['called'])
    return str(groups['latin']).lower()


@cache
def _han_keys() -> dict[str, str]:
    tables = load_people()
    return {
        written: key for part in ('names', 'surnames') for key, written in tables[part].items()
    }


@cache
def _compile_names() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Compile how people are named by their names, which say the key."""
    tables, titles = load_people(), load_people()['titles']
    surname = f'[{"".join(tables["surnames"].values())}]'
    given = '|'.join(sorted(tables['names'].values(), key=len, reverse=True))
    latin = '|'.join(
        f'{name[0].upper()}{name[1:]}'
        for name in (*tables['names'], *tables['surnames'])
        if name not in ('he', 'long', 'fan', 'fang', 'ma')
    )
    roles = '|'.join(words['en'] for words in tables['roles'].values())
    patterns = [
        (
            '',
            rf'(?<![A-Za-z])(?i:(?:{titles["en"]})\b\.?\s+)+(?-i:(?P<latin>{_NAME}))(?:\s{_NAME})?',
        ),
        ('', rf'(?<![A-Za-z])(?P<latin>{latin})(?:\s{_NAME})?(?![A-Za-zß-ſ])'),
        ('', rf'(?:{titles["zh_before"]})(?P<han>{surname})(?!人|师)'),
        (
            '',
            rf'(?P<han>{surname})[\u4e00-\u9fff]{{0,2}}?(?:{titles["zh_after"]})(?![程具厂作位业])',
        ),
        ('', f'(?P<han>{given})'),
        ('', rf'{_NO_NAME}(?P<han>{surname})[\u4e00-\u9fff]{{1,2}}?(?={titles["zh_is_near"]})'),
        (
            '',
            rf'(?<=[跟离替]){_NO_NAME}(?P<han>{surname})[\u4e00-\u9fff]{{1,2}}?'
            rf'(?={titles["zh_is_apart"]})',
        ),
        (
            '',
            rf'(?<=[给替帮喂]){_NO_NAME}(?P<han>{surname})[\u4e00-\u9fff]{{1,2}}?(?={titles["zh_is_served"]})',
        ),
        (
            '',
            rf'(?<=[到给]){_NO_NAME}(?P<han>{surname})[\u4e00-\u9fff]{{1,2}}?(?={titles["zh_holds"]})',
        ),
        (
            '',
            rf'(?P<called>[小老阿][^\x00-\u4dff{titles["zh_no_name"]}])'
            rf'(?=(?:{titles["zh_is_near"]})|手[里上中]|(?:和|跟|或者?|、)[小老阿]'
            r'|[^,，。]{1,8}[,，][^,，。]?[他她])',
        ),
        (
            '',
            rf'(?<=[给替帮喂])(?P<called>[小老阿][^\x00-\u4dff{titles["zh_no_name"]}])'
            rf'(?={titles["zh_is_served"]})',
        ),
        (
            '',
            rf'(?:^|(?<=[.!?;] ))(?P<latin>{_LONG_NAME})(?= {titles["en_is_near"]})',
        ),
        ('', rf'(?<![A-Za-z])(?P<latin>{_LONG_NAME})(?=[\u4e00-\u9fff])'),
        ('', rf'^(?P<latin>{_LONG_NAME})(?= (?:{titles["en_is"]})\b)'),
        (
            '',
            rf'^(?!(?i:{roles})\b)(?P<latin>{_LONG_NAME})(?=[\'’]s (?:{titles["en_owns"]})\b)',
        ),
    ]
    return tuple((key, compile_pattern(pattern)) for key, pattern in patterns)


@cache
def _compile_roles() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Compile how people are named by what they are: their keys, and the words."""
    tables = load_people()
    roles = {key: [words] for key, words in tables['roles'].items()}
    roles['worker'] += tables['occupations'].values()
    return tuple(
        (key, _compile_words(words, _NO_ROOM if key == 'worker' else ''))
        for key, words in roles.items()
    )


@cache
def _compile_called() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Compile what people are called by their occupations and in a family."""
    tables = load_people()
    called = {**tables['occupations'], **tables['kin']}
    return tuple((key, _compile_words([words], _NO_ROOM)) for key, words in called.items())


def _compile_words(words: Iterable[Mapping[str, str]], after: str) -> re.Pattern[str]:
    """Compile words of both languages, but before what is `after` them."""
    english, chinese = ('|'.join(one[name] for one in words) for name in ('en', 'zh'))
    return compile_pattern(rf'(?:\b(?i:{english})\b|(?:{chinese})){after}')


def _capitalised(text: str) -> Iterable[re.Match[str]]:
    """Return words that only a name would write so: capitals inside of a sentence."""
    return re.finditer(
        r'(?<=[a-z,] )(?!I\b|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January'
        r'|February|March|April|May|June|July|August|September|October|November|December|English'
        rf'|Chinese|German|French|Christmas|Easter)({_CAPITAL}{_SMALL}{{1,14}})(?=[ ,.\'’;!?]|$)'
        r'(?![ -][A-Z0-9])',
        text,
    )
