"""Stored text in a text of ours: on one line, and in quotes that it cannot leave."""

from __future__ import annotations

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.tokenizer import cut

_QUOTES = compile_pattern(r'["\u201c-\u201f\u2033\u275d\u275e\u301d-\u301f\uff02]')
_ESCAPED = r'\\"'
_BRACKETS = str.maketrans({'[': '(', ']': ')', '"': "'"})


def format_line(text: str, longest: int) -> str:
    """Return a text without breaks and controls, cut at a word."""
    line = ' '.join(''.join(c if c.isprintable() else ' ' for c in text).split())
    kept, gone = cut(line, longest)
    return f'{kept}...' if gone else kept


def last_words(text: str, longest: int) -> str:
    """Return the last words of a text; of one long word, or a script without spaces, its end."""
    end = text[-longest:]
    if len(text) > longest and not text[-longest - 1].isspace() and ' ' in end:
        end = end.partition(' ')[2]
    return end.strip()


def quote(text: str, longest: int) -> str:
    """
    Return a text on one line in double quotes, which it cannot leave.

    Backslashes are escaped, and all that looks like a double quote becomes an escaped one.
    """
    line = format_line(text, longest).replace('\\', '\\\\')
    return f'"{_QUOTES.sub(_ESCAPED, line)}"'


def format_label(text: str, longest: int = 128) -> str:
    """Return a name, as of a speaker, that can leave neither brackets nor quotes."""
    return format_line(text, longest).translate(_BRACKETS)
