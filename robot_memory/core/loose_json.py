"""
JSON as language models write it, where what is meant is unambiguous.

In single quotes or Python's constants, with a comma too many, in full-width punctuation or quotes,
in a code fence, with names without quotes, with comments, written as a JSON text once more, or one
object without its braces.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

MOST_REPAIRED = 20_000
"""Characters of JSON up to which a repair is tried."""
_FENCE = re.compile(r'```[A-Za-z0-9]*\s*\n?(.*?)\s*```', re.DOTALL)
_QUOTED = re.compile(
    r'"(?:[^"\\]|\\.)*"' r"|'(?:[^'\\]|\\.)*'" '|[“”][^“”]*[“”]|‘[^‘’]*’', re.DOTALL
)
_PUNCTUATION = str.maketrans('：，；｛｝［］（）【】', ':,;{}[]()[]')
_CONSTANTS = (
    (re.compile(r'\btrue\b'), 'True'),
    (re.compile(r'\bfalse\b'), 'False'),
    (re.compile(r'\bnull\b'), 'None'),
)
_COMMENT = re.compile(r'//[^\n]*|/\*[^*]*\*/|(?m:^\s*#[^\n]*)')
_BARE_NAME = re.compile(r'([{,]\s*)([A-Za-z_$][\w.$-]*)(\s*:)')


def read_json(text: str, may_be_bare: bool = False) -> Any:
    """
    Return the object or array that a text writes as JSON or as a Python literal, else None.

    One that `may_be_bare` may lack the braces of an object: `task.success: true`.
    """
    fenced = _FENCE.fullmatch(text.strip())
    body = (fenced[1] if fenced else text).strip()
    if len(body) > MOST_REPAIRED:
        return None
    with suppress(ValueError, RecursionError):
        inner = json.loads(body)
        if isinstance(inner, str) and inner.lstrip()[:1] in ('{', '['):
            body = inner.strip()
    straight = _straighten(body)
    named = _outside(straight, _drop_comments)
    named = _quote_names(named)
    candidates = [body, straight, named]
    if may_be_bare and ':' in straight and straight[:1] not in '{[':
        candidates.append(_quote_names(f'{{{straight}}}'))
    for candidate in dict.fromkeys(candidates):
        for read in (json.loads, _read_literal):
            with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
                found = read(candidate)
                if isinstance(found, (dict, list)):
                    return found
    return None


def is_json(text: str) -> bool:
    """Say whether a text is JSON as it stands."""
    with suppress(ValueError, RecursionError):
        json.loads(text)
        return True
    return False


def _read_literal(text: str) -> Any:
    """Return what a text writes with Python's quotes, commas and constants."""
    return ast.literal_eval(_outside(text, _name_constants))


def _straighten(text: str) -> str:
    """Return a text with ASCII punctuation and quotes around its texts."""
    return _outside(text, lambda part: part.translate(_PUNCTUATION), straightens=True)


def _quote_names(text: str) -> str:
    """Return a text with the names of its members in quotes."""
    return _outside(text, lambda part: _BARE_NAME.sub(r'\1"\2"\3', part))


def _drop_comments(part: str) -> str:
    return _COMMENT.sub('', part)


def _outside(text: str, change: Callable[[str], str], straightens: bool = False) -> str:
    """Return a text, changed wherever it is not in quotes."""
    parts, end = [], 0
    for quoted in _QUOTED.finditer(text):
        parts.append(change(text[end : quoted.start()]))
        inner = quoted[0]
        if straightens and inner[0] in '“”‘':
            inner = json.dumps(inner[1:-1], ensure_ascii=False)
        parts.append(inner)
        end = quoted.end()
    return ''.join([*parts, change(text[end:])])


def _name_constants(part: str) -> str:
    for pattern, name in _CONSTANTS:
        part = pattern.sub(name, part)
    return part
