"""
What kind of experience a text is: category, confidence, tags and the files it names.

The rules are data, patterns.toml beside this file; they are compiled at the first call.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.prefixes import Lexicons, lead
from robot_memory.text.tokenizer import fold
from robot_memory.text.toml_tables import load_toml


@dataclass(frozen=True)
class Classification:
    """
    What was inferred; tags begin with the category, scope_files keep their order.

    What `may_be_rule` is of no protected category, but nearly was: a planner is told of it.
    """

    category: str
    confidence: float
    tags: tuple[str, ...]
    scope_files: tuple[str, ...]
    may_be_rule: bool = False


class _Lexicon(NamedTuple):
    """One set of patterns in both languages, to be searched in folded text."""

    en: re.Pattern[str]
    zh: re.Pattern[str]

    def search(self, folded: str, han: bool) -> bool:
        return bool(self.en.search(folded) or (han and self.zh.search(folded)))


class _Rules(NamedTuple):
    categories: tuple[tuple[dict[str, Any], re.Pattern[str]], ...]
    english: Lexicons
    labels: re.Pattern[str]
    hedge: _Lexicon
    reported: _Lexicon
    tags: _Lexicon
    tag_groups: _Lexicon
    measured: re.Pattern[str]
    file: re.Pattern[str]


_DATA = load_toml(__file__, 'patterns.toml')
CATEGORIES: tuple[str, ...] = tuple(table['name'] for table in _DATA['category'])
CONFIDENCES: dict[str, float] = {table['name']: table['confidence'] for table in _DATA['category']}
"""What an experience of each category starts with."""
PROTECTED: frozenset[str] = frozenset(
    table['name'] for table in _DATA['category'] if table.get('protected', False)
)

_CONSTRAINT: dict[str, Any] = _DATA['category'][0]
CONSTRAINT: str = _CONSTRAINT['name']
DEFAULT: str = _DATA['category'][-1]['name']
"""The category of what no pattern matches."""

# A bare number in a name (joint_3, UR5e) is no measurement; a decimal, a unit, a relation is.
_MEASURED = (
    r'\d\.\d|[=<>≤≥~±]\s*-?\d|(?<![a-z0-9_.])\d+\s?'
    r'(?:%|°|n\b|nm\b|[mck]?m\b|m?s\b|k?hz\b|k?g\b|deg|rad|v\b|a\b|w\b|rpm|fps|px|newton|second|minute'
    r'|percent|(?:out )?of \d|/\s?\d|[牛米毫厘秒度克次赫伏])'
)
_FILE = (
    r'https?://\S+'
    r'|(?<![^\s"\'`(\[<,;:=\u2e80-\uffef])'
    r'((?:(?:package|file)://|[A-Za-z]:\\)?[^\W\u2e80-\uffef]?[^\s"\'`()\[\]<>,;:=|\u2e80-\uffef]*[\w)+]'
    r'\.(?:launch\.(?:py|xml|ya?ml)|py[ix]?|c|cc|cpp|cxx|h|hh|hpp|cu|rs|ipynb|sh|bash|cmake|js|ts'
    r'|ya?ml|toml|json|xml|cfg|ini|conf|env|params|urdf|xacro|sdf|srdf|launch|world|rviz|msg|srv'
    r'|action|md|rst|txt|csv|log|db3?|sqlite3?|mcap|bag|pcd|ply|stl|dae|obj|step|onnx|pth?|engine'
    r'|tflite|npy|npz|png|jpe?g|mp4|pgm|service|repos)'
    r'|(?:[\w.~/-]*/)?(?:Makefile|Dockerfile))(?![A-Za-z0-9_/\\-]|\.\w)'
)

_MAY_NAME_FILE = compile_pattern(r'\.[a-z]|file')
"""What `_FILE` takes for a file's name has an ending in letters, or is a Makefile."""


def _compile_lexicon(en: Iterable[str], zh: Iterable[str]) -> _Lexicon:
    """Compile alternatives: English ones start at a word's start, Chinese ones anywhere."""
    return _Lexicon(compile_pattern(rf'\b(?:{"|".join(en) or "(?!)"})'), _compile_chinese(zh))


def _compile_chinese(patterns: Iterable[str]) -> re.Pattern[str]:
    return compile_pattern('|'.join(patterns) or '(?!)')


@cache
def _compile_rules() -> _Rules:
    tags, hedge, reported = _DATA['tag'], _DATA['hedge'], _DATA['reported']
    in_english = [rf'(?:{tag["en"]})\b' for tag in tags]
    return _Rules(
        tuple((table, _compile_chinese(table['zh'])) for table in _DATA['category']),
        Lexicons(table['en'] for table in _DATA['category']),
        compile_pattern(
            r'\s*(?:{})\s*:'.format(
                '|'.join(
                    f'(?P<{table["name"]}>{"|".join(table["labels"])})'
                    for table in _DATA['category']
                    if 'labels' in table
                )
            )
        ),
        _compile_lexicon(hedge['en'], hedge['zh']),
        _compile_lexicon(reported['en'], reported['zh']),
        _compile_lexicon(
            [rf'{lead(tag["en"] for tag in tags)}(?:{"|".join(in_english)})'],
            [tag['zh'] for tag in tags],
        ),
        _compile_lexicon(
            [rf'(?P<{tag["name"]}>{tag["en"]})\b' for tag in tags],
            [f'(?P<{tag["name"]}>{tag["zh"]})' for tag in tags],
        ),
        compile_pattern(_MEASURED),
        compile_pattern(_FILE),
    )


# Groups slow a search down, so that texts are searched without and only found words with.
@cache_texts(4096)
def _find_tag(word: str) -> str | None:
    """Return the tag that a word found by the tag patterns stands for."""
    groups = _compile_rules().tag_groups
    match = groups.en.match(word) or groups.zh.match(word)
    return match.lastgroup if match else None


def _find_topics(folded: str, han: bool) -> list[str]:
    """Return what a text is about, in the order of the table."""
    words, spaced = _compile_rules().tags, folded.replace('_', ' ')
    found = words.en.findall(spaced) + (words.zh.findall(spaced) if han else [])
    about = {_find_tag(word) for word in found}
    return [tag['name'] for tag in _DATA['tag'] if tag['name'] in about]


def _find_files(text: str) -> tuple[str, ...]:
    """Return the file names and paths in a text, once each, in order."""
    if not _MAY_NAME_FILE.search(text):
        return ()
    return tuple(
        dict.fromkeys(match[1] for match in _compile_rules().file.finditer(text) if match[1])
    )


def is_limit(text: str) -> bool:
    """Say whether patterns take a text for a limit that is stated as a rule."""
    from robot_memory.text.limits import states_limit

    folded = fold(text)
    return states_limit(folded, max(folded, default='') >= '\u3400')


def classify(text: str, is_rule: bool | None = None) -> Classification:
    """
    Infer category, confidence, tags and files from an insight in English or Chinese.

    The first category in order of precedence that matches is the text's, 'code' where none
    does; the other matching ones follow as tags, then what the text is about. A limit that is
    stated as a rule is a constraint; of other texts a leading label (Lesson:) decides. `is_rule`
    is whether a classifier takes the text for a rule, None where patterns decide alone; a label of
    constraints outweighs it.
    """
    from robot_memory.text.limits import states_limit
    from robot_memory.text.rules.commands import commands
    from robot_memory.text.rules.prescribed import prescribes_limit

    rules, folded = _compile_rules(), fold(text)
    han = not folded.isascii() and max(folded) >= '\u3400'
    label = rules.labels.match(folded)
    has_label = label is not None
    in_english = rules.english.find(folded)
    asks = is_rule is not False  # where it is said that a text is no rule, none is looked for
    prescribed = asks and not has_label and prescribes_limit(text)
    matching = [
        table
        for place, (table, chinese) in enumerate(rules.categories)
        if in_english >> place & 1
        or (han and chinese.search(folded))
        or (table is _CONSTRAINT and asks and (prescribed or states_limit(folded, han, has_label)))
        or (table is _CONSTRAINT and asks and not has_label and commands(text))
    ]
    if _CONSTRAINT in matching and not prescribed and rules.reported.search(folded, han):
        matching.remove(_CONSTRAINT)
    is_labelled = label is not None and label.lastgroup == _CONSTRAINT['name']
    if is_labelled:
        matching = [_CONSTRAINT, *(table for table in matching if table is not _CONSTRAINT)]
    elif label and _CONSTRAINT not in matching:
        matching.sort(key=lambda table: table['name'] != label.lastgroup)
    if is_rule is not None and not is_labelled:
        matching = [table for table in matching if table is not _CONSTRAINT]
        matching = [_CONSTRAINT, *matching] if is_rule else matching
    table = matching[0] if matching else rules.categories[-1][0]
    confidence: float = table['confidence']
    if 'hedged' in table and rules.hedge.search(folded, han):
        confidence = table['hedged']
    elif 'measured' in table and rules.measured.search(folded):
        confidence = table['measured']
    names = [table['name'], *(other['name'] for other in matching[1:]), *_find_topics(folded, han)]
    return Classification(table['name'], confidence, tuple(names), _find_files(text))
