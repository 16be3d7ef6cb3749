"""What a text mentions: things, places, actions and tools of lexicon.toml, in both languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.questions.inflections import inflect
from robot_memory.text.toml_tables import load_toml

KINDS = ('thing', 'place', 'action', 'tool', 'material', 'colour')
_WORD = compile_pattern(r"[a-z0-9]+(?:[-'][a-z0-9]+)*")
_DETERMINERS = frozenset(
    'a an the this that these those my your his her its our their some any each every'.split()
)


class Sense(NamedTuple):
    """
    Hold what a word means.

    `level` is 'is' where the word names the concept, 'so' where it implies it, 'maybe' where it
    may, and 'rule' where only a rule means it.
    """

    kind: str
    concept: str
    level: str


@dataclass(frozen=True)
class Mention:
    """Hold a word and what it means; `form` is 'ed' of past forms, `base` its entry."""

    start: int
    end: int
    word: str
    senses: tuple[Sense, ...]
    form: str = ''
    base: str = ''

    def list_concepts(self, kind: str) -> list[Sense]:
        """Return its senses of one kind."""
        return [sense for sense in self.senses if sense.kind == kind]


class _Entry(NamedTuple):
    phrase: tuple[str, ...]
    senses: tuple[Sense, ...]
    form: str
    base: str


class _Vocabulary(NamedTuple):
    english: dict[str, list[_Entry]]
    chinese: re.Pattern[str]
    han: dict[str, tuple[Sense, ...]]


@cache
def load_tables() -> dict[str, Any]:
    """Return lexicon.toml."""
    return load_toml(__file__, 'lexicon.toml')


@cache
def list_kinds_of(thing: str) -> frozenset[str]:
    """Return what everything of a kind is, itself included."""
    found = {thing}
    for parent in load_tables()['thing'].get(thing, {}).get('is', ()):
        found |= list_kinds_of(parent)
    return frozenset(found)


@cache
def list_possible_kinds_of(thing: str) -> frozenset[str]:
    """Return what something of a kind may be, and what it then is."""
    found: set[str] = set()
    for kind in list_kinds_of(thing):
        for other in load_tables()['thing'].get(kind, {}).get('maybe', ()):
            found |= list_kinds_of(other)
    return frozenset(found) - list_kinds_of(thing)


@cache_texts(4096)
def name_kinds(word: str, kinds: frozenset[str]) -> tuple[frozenset[str], bool]:
    """
    Return of the kinds of thing that a word stands for those that it names, and whether it does.

    'Glassware' names a kind, 'wine glass' one thing of it.
    """
    tables = load_tables()
    named = {
        kind
        for kind in kinds
        for text in tables['general'].get(kind, {}).values()
        if word in split_words(text)
    }
    named = named or {kind for kind in kinds if tables['thing'][kind].get('narrow')}
    return (frozenset(named), True) if named else (kinds, False)


def find_mentions(folded: str) -> list[Mention]:
    """Return what a folded text mentions, in its order; the longest word that fits is taken."""
    found = [*_find_english(folded), *_find_chinese(folded)]
    return sorted(found, key=lambda mention: mention.start)


def is_part_of_word(clause: str, mentions: Sequence[Mention], place: int) -> bool:
    """Say whether a single character stands within a word that no table knows: the 码 of 密码."""
    mention = mentions[place]
    if len(mention.word) > 1 or mention.word.isascii():
        return False
    before, after = (
        clause[mention.start - 1 : mention.start],
        clause[mention.end : mention.end + 1],
    )
    words = load_tables()['boundary']
    starts = place and mentions[place - 1].end == mention.start
    ends = place + 1 < len(mentions) and mentions[place + 1].start == mention.end
    ends = ends or clause.startswith(_list_ignored()['zh'], mention.end)
    is_free = (not before or before in words['before'] or starts) and (
        not after or after in words['after'] or ends
    )
    return not is_free


@cache
def _list_ignored() -> dict[str, tuple[str, ...]]:
    """Return the words that mean nothing, by their language."""
    return {name: tuple(split_words(text)) for name, text in load_tables()['ignored'].items()}


@cache_texts(1024)
def find_object(word: str) -> Mention | None:
    """
    Return the thing that words for an action name beside it; None: none.

    The tea of 'make tea' and 倒茶, the knife of 磨刀. Rules that name the action are of no thing.
    """
    for start, end in _list_parts(word):
        part = word[start:end]
        if any(part in one != word and word.endswith(one) for one in _list_ignored()['zh']):
            continue  # 移动底盘 moves no plate
        for mention in find_mentions(part):
            kinds = {sense.kind for sense in mention.senses if sense.level == 'is'}
            if any(sense.concept == 'heated' for sense in mention.senses):
                continue  # 热一热 does so to anything
            if mention.word == part and 'thing' in kinds and 'action' not in kinds:
                return mention
    return None


def _list_parts(word: str) -> Iterator[tuple[int, int]]:
    """Yield where parts of words that do not begin them begin and end, the longest first."""
    if not word.isascii():
        for start in range(1, len(word)):
            yield start, len(word)
        return
    ends = [match.end() for match in _WORD.finditer(word)]
    starts = [match.start() for match in _WORD.finditer(word)]
    for length in range(len(starts) - 1, 0, -1):
        for first in range(1, len(starts) - length + 1):
            yield starts[first], ends[first + length - 1]


def name_concept(text: str, kind: str) -> str | None:
    """Return the concept of a kind that a name stands for; None: none that is known."""
    for mention in find_mentions(text.strip().lower()):
        for sense in mention.list_concepts(kind):
            if sense.level == 'is':
                return sense.concept
    return None


def is_ignored(folded: str) -> bool:
    """Say whether a text has a word that means nothing here, such as a part of the robot."""
    return any(word in folded for words in _list_ignored().values() for word in words)


def split_words(text: str) -> list[str]:
    """Return the words of a list in the table."""
    return [word.strip() for word in text.split(',') if word.strip()]


def _find_english(folded: str) -> Iterator[Mention]:
    words = list(_WORD.finditer(folded))
    index = _load_vocabulary().english
    at, last_end, last_is_noun = 0, -1, False
    while at < len(words):
        fitting = [
            entry
            for entry in index.get(words[at][0], ())
            if _matches(words, at, entry.phrase, folded)
        ]
        if not fitting:
            at += 1
            continue
        entry = max(fitting, key=lambda one: len(one.phrase))
        length = len(entry.phrase)
        start, end = words[at].start(), words[at + length - 1].end()
        before = words[at - 1][0] if at else ''
        after = words[at + length][0] if at + length < len(words) else ''
        is_listed = last_is_noun and folded[last_end:start] in (' or ', ' and ')
        senses = _choose_senses(entry.senses, before, after, folded[:start], is_listed=is_listed)
        last_end, last_is_noun = end, {sense.kind for sense in senses} == {'thing'}
        if senses:
            yield Mention(start, end, folded[start:end], senses, entry.form, entry.base)
        at += length


def _matches(words: list[re.Match[str]], at: int, phrase: tuple[str, ...], folded: str) -> bool:
    if at + len(phrase) > len(words):
        return False
    if any(words[at + n][0] != word for n, word in enumerate(phrase)):
        return False
    gap = folded[words[at].start() : words[at + len(phrase) - 1].end()]
    return not re.search(r'[,.;:!?]', gap)


def _choose_senses(
    senses: tuple[Sense, ...], before: str, after: str, prefix: str, *, is_listed: bool
) -> tuple[Sense, ...]:
    """Return of a word that is a noun and a verb what it is here; `is_listed` after a noun."""
    kinds = {sense.kind for sense in senses}
    opens = not prefix.strip() or prefix.rstrip()[-1] in '.;:!?'
    if opens and after in _DETERMINERS and 'thing' in kinds:
        return tuple(sense for sense in senses if sense.kind != 'thing')  # 'log every action'
    if not any(sense.kind == 'action' and sense.level != 'maybe' for sense in senses):
        return senses
    if before in _DETERMINERS or (is_listed and 'thing' in kinds and after not in _DETERMINERS):
        return tuple(sense for sense in senses if sense.kind != 'action')
    if len(kinds) == 1:
        return senses
    opens = not prefix.strip() or prefix.rstrip()[-1] in ',.;:!?'
    verb = opens or before in (
        'to', 'and', 'then', 'please', 'you', 'must', 'not', "don't", 'never', 'always', 'first',
        'only', 'also', 'or', 'no', 'now', 'just', 'may', 'can', 'should', 'when', 'while',
        'before', 'is', 'are',
    )  # fmt: skip
    return (
        tuple(
            sense
            for sense in senses
            if (sense.kind == 'action') == verb
            or (sense.kind == 'place' and sense.level == 'maybe')
        )
        or senses
    )


def _find_chinese(folded: str) -> Iterator[Mention]:
    vocabulary = _load_vocabulary()
    for match in vocabulary.chinese.finditer(folded):
        senses = vocabulary.han[match[0]]
        if senses:
            yield Mention(match.start(), match.end(), match[0], senses, base=match[0])


@cache
def _load_vocabulary() -> _Vocabulary:
    english: dict[tuple[str, ...], dict[Sense, str]] = {}
    bases: dict[tuple[str, ...], str] = {}
    han: dict[str, list[Sense]] = {}
    for sense, words in _list_senses():
        for language, text in words.items():
            for word in split_words(text):
                if language == 'zh':
                    entry = han.setdefault(word, [])
                    if sense is not None and sense not in entry:
                        entry.append(sense)
                    continue
                for form, name in _inflect(word, sense):
                    phrase = tuple(form.split())
                    entry_en = english.setdefault(phrase, {})
                    bases.setdefault(phrase, word)
                    if sense is not None:
                        entry_en.setdefault(sense, name)
    _join_parts(han)
    index: dict[str, list[_Entry]] = {}
    for phrase, senses in english.items():
        forms = set(senses.values())
        form = 'ed' if forms == {'ed'} else ''
        index.setdefault(phrase[0], []).append(_Entry(phrase, tuple(senses), form, bases[phrase]))
    longest = sorted(han, key=len, reverse=True)
    chinese = compile_pattern('|'.join(map(re.escape, longest)))
    return _Vocabulary(index, chinese, {word: tuple(senses) for word, senses in han.items()})


def _join_parts(han: dict[str, list[Sense]]) -> None:
    """Give Chinese verbs of several characters what their parts mean: 送去 carries as 送 does."""
    for word, senses in han.items():
        if not any(sense.kind == 'action' for sense in senses):
            continue
        for part, others in han.items():
            if part in word and part != word:
                senses += [one for one in others if one.kind == 'action' and one not in senses]


def _list_senses() -> Iterator[tuple[Sense | None, dict[str, str]]]:
    """Yield what words mean; None: nothing."""
    tables = load_tables()
    yield None, tables['ignored']
    for kind in KINDS:
        for name, table in tables[kind].items():
            words = {language: table[language] for language in ('en', 'zh') if language in table}
            yield Sense(kind, name, 'is'), words
            for level, keys in (('so', ('so', 'by')), ('maybe', ('maybe',)), ('rule', ('rule',))):
                for key in keys:
                    if isinstance(table.get(key), dict):
                        yield Sense(kind, name, level), table[key]


def _inflect(word: str, sense: Sense | None) -> Iterable[tuple[str, str]]:
    """Yield the forms of an English entry, with 'ed' of its past forms."""
    yield word, ''
    first, _, rest = word.partition(' ')
    rest = f' {rest}' if rest else ''
    if sense is not None and sense.kind == 'action':
        forms = inflect(first)
        for form in (forms.third, forms.continuous):
            yield f'{form}{rest}', ''
        for past in f'{forms.past}|{forms.participle}'.split('|'):
            if past != first:
                yield f'{past}{rest}', 'ed'
        return
    yield _make_plural(word), ''


def _make_plural(noun: str) -> str:
    head, _, last = noun.rpartition(' ')
    if last.endswith(('s', 'x', 'ch', 'sh')):
        plural = f'{last}es'
    elif last.endswith('y') and last[-2:-1] not in 'aeiou':
        plural = f'{last[:-1]}ies'
    elif last in ('knife', 'shelf', 'loaf', 'leaf'):
        plural = re.sub('fe?$', 'ves', last)
    elif last in ('tomato', 'potato', 'mango'):
        plural = f'{last}es'
    else:
        plural = f'{last}s'
    return f'{head} {plural}' if head else plural
