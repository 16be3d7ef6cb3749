"""What takes back what was said just before, and may not say of what: "Not Tuesday, Wednesday"."""

from __future__ import annotations

from typing import NamedTuple

from robot_memory.text import token_sets
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.statement_reader import STOP
from robot_memory.text.tokenizer import fold

LONGEST = 80
"""Characters of a sentence that says of nothing new what it is about."""

_LEAD = (
    r'^(?:(?:no|nope|oh|ah|er|um|wait|sorry|well|actually|hang on|hold on|my mistake|correction)'
    r'\b[\s,.!:;-]*)*'
)
_DENIED = compile_pattern(
    rf"{_LEAD}(?:it's |it is |that's |that is |they're )?not (?P<english>[\w' -]{{1,30}})[,;.:-]"
    '|^(?:不对[，,。!！ ]*|[哦啊][，, ]*)*不是(?P<chinese>[^，,。；;]{1,8})[，,；;]\\s*而?是'
)
"""Names what was wrong: it must stand in what is taken back."""
_BARE = compile_pattern(
    rf'{_LEAD}(?:(?:it was |they were |it\'s |just )?the )?other way (?:a?round|about)\b'
    rf"|{_LEAD}(?:you|i|we)(?:['’]ve| have|['’]d)? (?:got|had|put|said) "
    r'(?:that|it|this|them|those|these|the two|the names) '
    r'(?:all )?(?:backwards?|wrong|mixed up|the wrong way (?:a?round|about))\b'
    rf"|{_LEAD}(?:that|this)(?:['’]s| is| was) (?:wrong|not right|not true|a mistake|incorrect)\b"
    rf'|{_LEAD}(?:those|these|the) two (?:have |had )?(?:swapped|changed|switched|traded)\b'
    rf'|{_LEAD}i (?:misread|misspoke|misheard|got that wrong|was wrong)\b'
    '|^(?:那个|这个|刚才|我)?(?:不对|错了|说错|说反|搞反|弄反|反了|记错|搞错|弄错|颠倒)'
    '|^冤枉|^(?:她|他|它)们?俩?(?:正好)?(?:倒过来|反过来|换了)'
)


_ANSWER = compile_pattern(
    r"^(?:no|nope)\b[\s,.!]+(?:(?:that|it|this)['’]s|(?:that|it|this) (?:is|was)|they['’]re) "
    r'(?!ok|fine|right|alright|all right|good|true)'
)
"""Takes something back, or answers a question: it must name something of what was said."""
_POINTS = compile_pattern(
    r'\b(?:he|him|his|she|her|it|its|they|them|their|that|those|these|one|both|two)\b|[他她它那这俩]'
)
"""Stands for what was just named."""
_ABOUT = compile_pattern(r"\babout (?!that\b|this\b|it\b)(?P<thing>[\w' -]{1,30}?)(?=[,;:.!]|$)")


class Retraction(NamedTuple):
    """
    Hold what a text takes back.

    `denied` has the tokens of what it says is wrong, none where it says that of all that was said;
    `told` has all of its tokens, and `points` says that it names what it is about by a pronoun.
    """

    denied: frozenset[str]
    told: frozenset[str]
    points: bool

    def fits(self, known: str) -> bool:
        """Say whether it may be of a known text."""
        tokens = token_sets.make_token_set(known)
        if self.denied:
            return self.denied <= tokens
        return self.points or any(one in tokens for one in self.told if one not in STOP)


def read_retraction(text: str) -> Retraction | None:
    """Return what a text takes back of what was said just before; None where it takes nothing."""
    folded = fold(text).strip()
    if len(folded) > LONGEST:
        return None
    match = _DENIED.search(folded)
    if match is not None:
        denied = token_sets.make_token_set(match['english'] or match['chinese'])
        return Retraction(denied, denied, points=False) if denied else None
    is_bare = _BARE.search(folded) is not None
    if not is_bare and _ANSWER.search(folded) is None:
        return None
    about = _ABOUT.search(folded)
    if is_bare and about is not None:
        named = token_sets.make_token_set(about['thing'])
        return Retraction(named, named, points=False)
    points = is_bare and _POINTS.search(folded) is not None
    return Retraction(frozenset(), token_sets.make_token_set(folded), points)
