"""
Limits that a rule states: an amount, and on which side of it all must stay.

'Never exceed 15 N', 'no slower than 0.2 m/s', 不超过15牛, 至少半米, 'at most three tries'. What is
more or less bounds from the other side where it is forbidden, before the amount, behind it, or in
what follows ('8 N m is plenty, don't go past it'). An amount in a condition ('when over 2 kg are
carried') is no limit. The words are those of limits.toml.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.rules.amounts import Amount, load, read_amounts
from robot_memory.text.rules.rule_clauses import Part, split_rule

_SENTENCE = compile_pattern(
    r'[;；。！!？?\n]|(?<!\d)(?<!\bmax)(?<!\bmin)\.|(?<!\bmax)(?<!\bmin)\.(?!\d)'
)
_KINDS = ('upper', 'lower', 'more', 'less')
_SEPARATOR = compile_pattern(r'[,，、]|\bbut\b|但')


@dataclass(frozen=True)
class Limit:
    """
    Hold a limit: bounds in a unit, None where there is none on that side.

    Of degrees it is not told whether they are of an angle or a temperature. `words` is the part of
    the rule that states it. One without bounds is unclear: no word tells what its amount bounds.
    `counted` is what is counted, '' of what is measured.
    """

    low: float | None
    high: float | None
    unit: str
    words: str
    counted: str = ''

    @property
    def is_unclear(self) -> bool:
        """Say whether it is not told which side it bounds."""
        return self.low is None and self.high is None


@cache_texts(4096)
def read_limits(text: str) -> tuple[Limit, ...]:
    """Return the limits that a rule states, unclear ones too, in their order."""
    folded, amounts = read_amounts(text)
    if not amounts:
        return ()
    for name, put in (('goes_on', ' '), ('compared', '超过')):
        folded = re.sub(load()['forbidden'][name], partial(_pad, put), folded)
    parts = sorted(
        (one for one in split_rule(folded) if one.is_condition or one.is_exception),
        key=lambda one: one.start,
    )
    found = [
        limit
        for start, end, until, own in _list_sentences(folded, amounts)
        for limit in _read_sentence(folded, start, end, until, own, parts)
    ]
    # What limits nothing else may limit this, in words that are not known.
    return tuple(found) or tuple(
        Limit(None, None, one.unit, folded) for one in amounts if not one.counted
    )


def _pad(put: str, match: re.Match[str]) -> str:
    return put.ljust(len(match[0]))


def may_bound(folded: str) -> bool:
    """Say whether a folded text has any word by which an amount becomes a bound; cheap."""
    return bool(_compile_hint().search(folded))


@cache
def _compile_hint() -> re.Pattern[str]:
    table = load()
    words = [table[kind][where] for kind in _KINDS for where in ('before', 'after')]
    join = table['between']['join']
    return compile_pattern(
        '|'.join(
            [
                *words,
                table['forbidden']['after'],
                rf'(?:\d|[十百]){join}[\d一-十]',
                '比',
                'between',
            ]
        )
    )


def _list_sentences(
    folded: str, amounts: Sequence[Amount]
) -> Iterator[tuple[int, int, int, list[Amount]]]:
    """Yield where sentences with amounts begin and end, and until where others go on with them."""
    ends = [match.start() for match in _SENTENCE.finditer(folded)] + [len(folded)]
    held: list[tuple[int, int, list[Amount]]] = []
    start, place = 0, 0
    for end in ends:
        own = []
        while place < len(amounts) and amounts[place].start < max(end, start + 1):
            own.append(amounts[place])
            place += 1
        if own:
            held.append((start, end, own))
        start = min(end + 1, len(folded))
    for one, (start, end, own) in enumerate(held):
        until = held[one + 1][0] if one + 1 < len(held) else len(folded)
        yield start, end, max(until, end), own


def _read_sentence(
    folded: str,
    start: int,
    end: int,
    until: int,
    amounts: Sequence[Amount],
    parts: Sequence[Part],
) -> Iterator[Limit]:
    """Yield the limits of a sentence; what goes on with it until `until` tells of its last one."""
    cuts = [start - 1, *(match.start() for match in _SEPARATOR.finditer(folded, start, end)), end]
    skip, used = False, start
    for place, amount in enumerate(amounts):
        if skip:
            skip = False
            continue
        following = amounts[place + 1] if place + 1 < len(amounts) else None
        last = bisect_left(cuts, amount.start)
        begin = max(used, cuts[last - 1] + 1, amount.start - _FAR)
        close = min(cuts[bisect_left(cuts, amount.end)], amount.end + _FAR)
        words = folded[begin:close]
        before = folded[begin : amount.start]
        if _is_each(before, amount, following, close):
            continue
        rest = folded[amount.end : until if following is None else following.start][:_FAR]
        is_span = following is not None and _is_span(folded[amount.end : following.start], before)
        is_span |= amount.low is not None
        is_condition = not is_span and _is_of_condition(folded, begin, amount, parts)
        whole = folded[max(start, amount.start - _FAR) : amount.start]
        ends = is_condition and _stops(whole) and _is_more_than(before)
        if is_condition and not (ends or _is_refused(rest)):
            continue
        if ends:
            yield Limit(None, amount.value, amount.unit, words, amount.counted)
            continue
        if is_span:
            least, most = amount.low, amount
            if least is None and following is not None:
                least, most, skip = amount.value, following, True
            is_clear = most.unit == amount.unit and least is not None and least <= most.value
            if not is_clear or _forbids(re.sub(load()['between']['least'], '', before)):
                yield Limit(None, None, amount.unit, words, amount.counted)
            else:
                yield Limit(least, most.value, amount.unit, words, amount.counted)
            continue
        stop = close if following is None else min(close, following.start)
        after = folded[amount.end : stop]
        side, distance = _find_side(
            before,
            after,
            rest[len(after) :],
            whole,
        )
        used = amount.end + distance if distance else used
        if amount.counted and not side:
            continue
        low, high = (amount.value if side == one else None for one in ('low', 'high'))
        yield Limit(low, high, amount.unit, words, amount.counted)


def _is_each(before: str, amount: Amount, following: Amount | None, close: int) -> bool:
    """Say whether an amount only tells of how much another one is a limit: 一天最多五次."""
    is_one = amount.value == 1 and following is not None and following.start < close
    return is_one and _find_last(before, 'before') is None


def _is_of_condition(folded: str, start: int, amount: Amount, parts: Sequence[Part]) -> bool:
    """Say whether an amount only states when a rule holds; `start` is that of its segment."""
    limits, preposition = load()['limits'], load()['condition']['preposition']
    last = bisect_right(parts, amount.start, key=lambda one: one.start)
    for part in parts[max(last - 3, 0) : last]:
        if amount.start >= part.end:
            continue
        is_loose = bool(re.match(preposition, folded[part.start : part.end]))
        if is_loose and re.search(load()['condition']['stays'], folded[start : part.start]):
            return False
        begin = start if is_loose else max(part.start, amount.start - _FAR)
        before = folded[begin : amount.start]
        if re.search(f'{limits["en"]}|{limits["zh"]}', before):
            return False
        found = _find_last(before, 'before')
        return not is_loose or (found is not None and found[0] in ('more', 'less'))
    return False


def _is_span(joined: str, before: str) -> bool:
    table = load()['between']
    is_between = bool(re.search(r'(?:\bbetween|\bfrom|在|介于)\s*$', before))
    joins = bool(re.fullmatch(table['join'], joined))
    return joins and (is_between or not re.search(r'\band\b', joined))


def _find_side(before: str, after: str, rest: str, whole: str) -> tuple[str, int]:
    """
    Return which side of an amount is bounded, 'low' or 'high', '' where no word tells.

    `before` and `after` are of its own clause, `rest` is what follows it, up to the next amount,
    and `whole` the sentence before the amount. With it comes how far behind the amount that word
    ends, 0 where it stands before.
    """
    found, distance = _find_last(before, 'before'), 0
    own = _find_first(after, 'after')
    if own is None and found is None:
        own = _find_first(rest, 'after')
        own = own if own and own[0] in ('upper', 'lower') else None
    if own is not None and (found is None or (found[1] > _NEAR and own[1] < found[1])):
        found, distance = own, own[2]
    if found is None:
        return 'high' if _is_refused(after + rest) else '', 0
    kind = found[0]
    if kind in ('upper', 'lower'):
        return 'high' if kind == 'upper' else 'low', distance
    forbids = _forbids(before)
    if kind == 'less':
        is_topic = not distance and _is_topic(before, after)
        behind = after + rest if is_topic else after
        forbids = forbids or bool(re.search(load()['forbidden']['less'], behind))
        return 'low' if forbids else '' if is_topic or _follows(after + rest) else 'high', distance
    forbids = forbids or _is_refused(after + rest) or _forbids_topic(after, bool(distance))
    if not distance and _is_left(before, after, found[2]):
        forbids = True
    # What is more is wanted only where a word says so: a limit on the wrong side does harm.
    wants = _wants(whole) or _wants(after)
    return 'high' if forbids else 'low' if wants else '', distance


_FAR = 300
"""Characters before and behind an amount in which its bound may be told."""
_NEAR = 12
"""Characters between a comparison and its amount; farther off, one behind the amount outweighs."""


def _find_last(text: str, where: str) -> tuple[str, int, int] | None:
    """Return the comparison nearest before an amount, how far off it is, and where it begins."""
    matches = [
        (match.end(), match.end() - match.start(), kind)
        for kind, pattern in _compile_comparisons(where).items()
        for match in pattern.finditer(text)
    ]
    if not matches:
        return None
    end, length, kind = max(matches)
    return kind, len(text) - end, end - length


def _find_first(text: str, where: str) -> tuple[str, int, int] | None:
    """Return the first comparison behind an amount, where it begins and where it ends."""
    matches = [
        (match.start(), -match.end(), kind)
        for kind, pattern in _compile_comparisons(where).items()
        for match in pattern.finditer(text)
    ]
    if not matches:
        return None
    start, end, kind = min(matches)
    return kind, start, -end


def _forbids(text: str) -> bool:
    no = load()['no']
    cleaned = text.replace('不锈', '')
    return bool(re.search(f'{no["en"]}|{no["zh"]}', cleaned))


def _is_left(before: str, after: str, begin: int) -> bool:
    """Say whether what is handled is told by its amount, and left: 'leave anything over 2 kg'."""
    things = load()['things']
    is_left = re.search(things['left'], before) or re.search(things['left_to'], after)
    return bool(is_left and re.search(things['en'], before[:begin]))


def _is_topic(before: str, after: str) -> bool:
    """Say whether an amount is what a clause tells of: 'anything under 40 kPa is a no-go'."""
    topic = load()['forbidden']['topic']
    return bool(re.match(topic['before'], before) and re.search(topic['after'], after))


def _forbids_topic(after: str, is_behind: bool) -> bool:
    """Say whether a clause forbids what the amount is said of: 八百克以上的不能放."""
    return is_behind and bool(re.search(load()['no']['zh'], after))


def _is_refused(text: str) -> bool:
    """Say whether a text behind an amount says that it is as far as one may go."""
    return bool(re.search(load()['forbidden']['after'], text))


def _stops(text: str) -> bool:
    """Say whether a text tells to end what is done; then a condition behind it is a limit."""
    stops = load()['stops']
    return bool(re.search(f'{stops["en"]}|{stops["zh"]}', text))


def _is_more_than(before: str) -> bool:
    found = _find_last(before, 'before')
    return found is not None and found[0] == 'more'


def _follows(text: str) -> bool:
    return bool(re.match(load()['forbidden']['follows'], text))


def _wants(text: str) -> bool:
    wanted = load()['wanted']
    return bool(re.search(f'{wanted["en"]}|{wanted["zh"]}', text))


@cache
def load_aliases() -> dict[str, tuple[str, ...]]:
    """Return other words for what params are called, by what is meant."""
    return {name: tuple(said.split()) for name, said in load()['aliases'].items()}


@cache
def _compile_comparisons(where: str) -> dict[str, re.Pattern[str]]:
    return {kind: compile_pattern(rf'(?<![a-z])(?:{load()[kind][where]})') for kind in _KINDS}
