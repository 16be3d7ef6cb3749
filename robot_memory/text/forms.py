"""The form of a sentence: what it says, but for its numbers."""

from __future__ import annotations

from robot_memory.text.compiled_patterns import compile_pattern

_NUMBER = compile_pattern(r'(?<![\w.])\d+(?:\.\d+)?(?![\w])')
"""A number that stands alone, or before a unit; none in a name: tool0, joint_3."""


def make_form(text: str) -> str:
    """Return a sentence with its numbers put as 1."""
    return _NUMBER.sub('1', text)
