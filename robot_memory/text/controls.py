"""Characters that drive a terminal or turn the direction of text: shown, never obeyed."""

from __future__ import annotations

import re

from robot_memory.text.compiled_patterns import compile_pattern

_CODES = (
    *(code for code in range(0x20) if chr(code) not in '\t\n'),
    *range(0x7F, 0xA0),
    0x061C,
    *(0x200E, 0x200F),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
)
"""C0, DEL and C1; line separators, marks, embeddings, overrides and isolates of direction."""
_CONTROL = compile_pattern(f'[{"".join(map(re.escape, map(chr, _CODES)))}]')
_SPACES = dict.fromkeys((*_CODES, *map(ord, '\t\n')), ' ')


def escape_controls(text: str) -> str:
    r"""
    Return a text in which controls are escapes like \u202e; tabs and ends of lines stay.

    JSON has controls in strings only: there it remains the same value.
    """
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub(lambda found: f'\\u{ord(found[0]):04x}', text)


def blank_controls(text: str) -> str:
    """Return a text as one line, with a space for each control."""
    return text.translate(_SPACES)
