"""What a text says was wrong of what was said just before: "Not Tuesday, Wednesday"."""

from __future__ import annotations

from robot_memory.text import token_sets
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.tokenizer import fold

LONGEST = 80
"""Characters of a text that takes something back and does not say in full what."""

_DENIED = compile_pattern(
    r'^(?:(?:no|nope|oh|ah|er|um|wait|sorry|well|actually|hang on|hold on|my mistake)'
    r'\b[\s,.!:;-]*)*'
    r"(?:it's |it is |that's |that is |they're )?"
    r"not (?P<english>(?:[\w' /-]|\.(?=\d)){1,30})[,;.:-]"
    '|^(?:不对[，,。!！ ]*|[哦啊哎][，,呀 ]*)*不是(?P<chinese>[^，,。；;]{1,8})[，,；;]\\s*而?是'
)


def read_denied(text: str) -> frozenset[str]:
    """Return the tokens of what a text says was wrong; none where it says of nothing."""
    folded = fold(text).strip()
    match = _DENIED.search(folded) if len(folded) <= LONGEST else None
    if match is None:
        return frozenset()
    return token_sets.make_token_set(match['english'] or match['chinese'])
