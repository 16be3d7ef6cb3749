"""
Clauses that command: 'never put nuts in her food', 'the torch must not be carried', 不得翻看信件.

A cue (never, do not, always, must, 不要, 必须) with a verb decides that a text is a rule, whatever
it is about. Where somebody tells of it, asks, guesses or says what was, it decides
nothing. `describes` knows forms that no command has. The words are those of
commands.toml.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.tokenizer import fold
from robot_memory.text.toml_tables import load_toml

_SENTENCE = compile_pattern(
    r'(?<=[!?。;\n])|(?<!\bdr\.)(?<!\bmr\.)(?<!\bmrs\.)(?<=\.)(?!\w)| - | – '
)
_QUOTED = compile_pattern(r'"[^"]{2,}"|“[^”]{2,}”|「[^」]{2,}」|《[^》]+》')
_HAN = compile_pattern('[\u3400-\u9fff]')
_PART = compile_pattern(r'(?:[,:]|\band\b|\bso\b|\bbut\b)\s*')
_CLAUSE = compile_pattern('[,:]')
_MAY_COMMAND = compile_pattern(
    r'\b(?:never|no|none|nobody|nothing|both|not|dont|cannot|always|must|shall|should|may|only|sure|ensure|\w+n.t'
    r'|forbidden|prohibited|banned|off|mandatory|compulsory|obligatory|have|has|needs?|after|before|between'
    r'|up|upright|down|first|forwards?|away|inwards?|sideways|flat)\b|[不别勿禁必务一始只莫才]',
    re.IGNORECASE,
)
"""What a text must have that commands; it spares most texts the rest."""


class _English(NamedTuple):
    condition: re.Pattern[str]
    opening: re.Pattern[str]
    predicate: re.Pattern[str]
    no_command: re.Pattern[str]
    speaker: re.Pattern[str]
    place: re.Pattern[str]
    no_place: re.Pattern[str]
    describes: re.Pattern[str]
    no_description: re.Pattern[str]


class _Chinese(NamedTuple):
    cue: re.Pattern[str]
    speaker: re.Pattern[str]
    asks_for: re.Pattern[str]
    no_command: re.Pattern[str]
    place: re.Pattern[str]
    no_place: re.Pattern[str]
    describes: re.Pattern[str]
    no_description: re.Pattern[str]


@cache_texts(4096)
def commands(text: str) -> bool:
    """Say whether a clause of a text commands by a cue and a verb."""
    if not _MAY_COMMAND.search(text):
        return False
    for sentence in _split(text):
        if _HAN.search(sentence):
            if _commands_in_chinese(sentence):
                return True
        elif _commands_in_english(sentence):
            return True
    return False


@cache_texts(4096)
def describes(text: str) -> bool:
    """Say whether a text has the form of no command: where something is, or what there is."""
    sentences = _split(text)
    return bool(sentences) and all(map(_describes, sentences))


def _split(text: str) -> list[str]:
    folded = _QUOTED.sub(' ', fold(text))
    return [part.strip() for part in _SENTENCE.split(folded) if part and part.strip()]


def _describes(sentence: str) -> bool:
    words = _compile_chinese() if _HAN.search(sentence) else _compile_english()
    if words.place.match(sentence) and not words.no_place.search(sentence):
        return True
    return bool(words.describes.match(sentence)) and not words.no_description.search(sentence)


def _commands_in_english(sentence: str) -> bool:
    words = _compile_english()
    main = words.condition.sub('', sentence, count=1)
    if words.no_command.search(main):
        return False
    starts = [0, *(found.end() for found in _PART.finditer(main))]
    for start in starts:
        if words.opening.match(main, start):
            return True
    found = words.predicate.match(main)
    return found is not None and not words.speaker.search(found[0])


def _commands_in_chinese(sentence: str) -> bool:
    words = _compile_chinese()
    if words.no_command.search(sentence):
        return False
    for clause in _CLAUSE.split(sentence):
        for found in words.cue.finditer(clause):
            before, after = clause[: found.start()], clause[found.end() :]
            if not re.match(r'[\w]', after):
                continue
            spoken = words.asks_for.sub('', before)
            if not words.speaker.search(spoken):
                return True
    return False


@cache
def _compile_english() -> _English:
    some = load_toml(__file__, 'commands.toml')['en']
    predicate = '|'.join(some['predicate'])
    for name in ('participle', 'handled'):
        predicate = predicate.replace(f'{{{name}}}', some[name])
    lead = some['lead']
    return _English(
        compile_pattern(rf'{lead}(?:{some["condition"]})+'),
        compile_pattern(
            rf'{lead}(?:{some["cue"]}(?!{some["no_verb"]})[a-z]+|{some["sure"]}|{some["it_is"]}'
            rf'|{some["nobody"]}|{some["may_not"]}|{some["nothing"]})'
        ),
        compile_pattern(rf'{lead}{some["subject"]}(?:{predicate})'),
        compile_pattern(some['no_command']),
        compile_pattern(some['speaker']),
        compile_pattern(rf'{lead}(?:{some["place"]}|{some["keeper"]})'),
        compile_pattern(some['no_place']),
        compile_pattern(some['describes']),
        compile_pattern(some['no_description']),
    )


@cache
def _compile_chinese() -> _Chinese:
    some = load_toml(__file__, 'commands.toml')['zh']
    return _Chinese(*(compile_pattern(some[name]) for name in _Chinese._fields))
