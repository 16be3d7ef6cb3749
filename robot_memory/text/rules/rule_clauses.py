"""The parts of a rule: its conditions, what it forbids or limits, what it asks to be done."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.rules.lexicon import is_ignored
from robot_memory.text.rules.quantities import find_days
from robot_memory.text.toml_tables import load_toml


@dataclass(frozen=True)
class Part:
    """
    Hold a stretch of a rule.

    `is_condition`: it states when the rule holds; `is_exception`: when it does not.
    `names_actions`: what it names is forbidden or limited, and so a condition. `opens`: nothing
    stands before it. `is_topic`: it is what the rule says something of.
    `is_weak`: it may as well say how something is done: 'with a lid on'. `is_required`: only where
    it is so may what the rule is about be done: 'only when Mum is near'.
    """

    start: int
    end: int
    is_condition: bool = False
    is_exception: bool = False
    names_actions: bool = False
    is_limit: bool = False
    opens: bool = False
    forbids: bool = False
    is_weak: bool = False
    is_topic: bool = False
    is_required: bool = False

    @property
    def is_marked(self) -> bool:
        """Say whether it states when the rule holds, and not how something is done."""
        return self.is_condition and not self.is_weak


@cache
def load_reader() -> dict[str, Any]:
    """Return reader.toml."""
    return load_toml(__file__, 'reader.toml')


def split_rule(folded: str) -> list[Part]:
    """Return the parts of a rule that may state its condition."""
    parts: list[Part] = []
    for start, end in _split_sentences(folded):
        is_han = bool(re.search('[\u4e00-\u9fff]', folded[start:end]))
        parts += (_split_chinese if is_han else _split_english)(folded, start, end)
    has_condition = any(part.is_marked for part in parts)
    kept = []
    for part in parts:
        text = folded[part.start : part.end]
        states = part.is_condition or part.names_actions or part.is_limit
        if states or not has_condition or _states_topic(text):
            kept.append(part)
    return kept


def _states_topic(text: str) -> bool:
    topic = load_reader()['topic']
    names = ('drive_en', 'drive_zh', 'carry_en', 'carry_zh')
    return any(re.search(topic[name], text) for name in names)


def _split_sentences(folded: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for match in re.finditer(r'(?<!\bdr)(?<!\bmr)(?<!\bmrs)[.;!?](?!\d)\s*|[。；！？]', folded):
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, len(folded)))
    return [span for span in spans if folded[span[0] : span[1]].strip()]


def _split_english(folded: str, start: int, end: int) -> list[Part]:
    """Split a sentence where conditions begin, and where a comma or a colon ends them."""
    words = load_reader()
    text = folded[start:end]
    begins = [
        match.start()
        for match in re.finditer(words['condition']['en'], text)
        if not re.search(words['except']['before'], text[: match.start()])
    ]
    end_of_clause = rf',(?!{words["condition"]["listed"]})|:\s'
    ends = [match.start() for match in re.finditer(end_of_clause, text)]
    cuts = sorted({0, *begins, *ends, len(text)})
    permits = re.search(words['permit']['en'], text)
    parts: list[Part] = []
    for low, high in itertools.pairwise(cuts):
        piece = text[low:high]
        if not re.search(r'\w', piece):
            continue
        is_condition = low in begins
        if permits and low in ends and low > permits.start():
            permits = None  # it goes on about something else
        if is_condition and permits and permits.start() <= low:
            is_weak = permits['perhaps'] is not None
            parts.append(Part(start + low, start + high, True, is_weak=is_weak, is_required=True))
            continue
        is_exception = bool(re.search(f'^{words["except"]["en"]}', piece))
        found = _cut_duty(
            piece, start + low, start + high, is_condition, is_exception, not low, 'en'
        )
        weak = words['condition']['weak']
        goes_on = bool(parts) and parts[-1].is_marked
        puts = any(part.is_marked for part in parts) and re.search(
            words['condition']['puts_en'], text[:low]
        )
        is_weak = bool(
            (re.match(weak, piece) and not goes_on)
            or (puts and re.match(words['condition']['place'], piece))
        )
        if is_condition and not is_exception and low and is_weak:
            found = [replace(part, is_weak=True) for part in found]
        parts += found
    return parts


def _split_chinese(folded: str, start: int, end: int) -> list[Part]:
    words = load_reader()
    text = folded[start:end]
    cuts = sorted({0, *(match.start() for match in re.finditer('[,，:：]', text)), len(text)})
    parts: list[Part] = []
    for low, high in itertools.pairwise(cuts):
        piece = text[low:high]
        offset = len(piece) - len(piece.lstrip(',，:： '))
        low, piece = low + offset, piece[offset:]
        if not piece:
            continue
        permits = re.match(words['permit']['zh'], piece)
        if permits:
            at, (first, last) = start + low, permits.span('required')
            parts += _cut_permitted(permits['topic'], at, not parts)
            opens = not parts
            parts.append(Part(at + first, at + last, True, is_required=True))
            parts += _cut_permitted(piece[permits.end() :], at + permits.end(), opens)
            continue
        done = re.match(words['permit']['done_zh'], piece)
        if done:
            parts.append(Part(start + low, start + low + done.end(), True, is_required=True))
            parts += _cut_permitted(piece[done.end() :], start + low + done.end(), opens=True)
            continue
        then = re.match(words['permit']['then_zh'], piece)
        if then and parts and parts[-1].is_condition:
            parts[-1] = replace(parts[-1], is_required=True)
            parts += _cut_permitted(piece[then.end() :], start + low + then.end(), False)
            continue
        is_exception = bool(re.match(f'(?:{words["except"]["zh"]})', piece))
        is_first = not low and high < len(text)
        match = re.match(words['condition']['zh'], piece) or (
            re.match(words['condition']['done_zh'], piece) if is_first else None
        )
        if match and low and re.match(words['condition']['so_zh'], piece):
            match = None  # what is then to be done
        if match and not is_exception:
            is_exception = bool(re.match(words['except']['after_zh'], piece[match.end() :]))
        if match or is_exception:
            ends = match or re.match(words['except']['ends_zh'], piece)
            split = low + (ends.end() if ends else len(piece))
            parts.append(
                Part(start + low, start + split, True, is_exception, True, False, not low)
            )
            low, piece = split, text[split:high]
            then = re.match(words['permit']['then_zh'], piece)
            if then and not is_exception:
                parts[-1] = replace(parts[-1], is_required=True)
                parts += _cut_permitted(piece[then.end() :], start + low + then.end(), opens=True)
                continue
        if piece:
            parts += _cut_duty(piece, start + low, start + high, False, False, not low, 'zh')
    return parts


def _cut_permitted(piece: str, start: int, opens: bool) -> list[Part]:
    """Return as forbidden what a rule permits only where something is so, if it names anything."""
    if not piece.strip():
        return []
    limit = _has_amount(piece, 'zh')
    return [Part(start, start + len(piece), False, False, True, limit, opens, forbids=True)]


def _cut_duty(
    piece: str,
    start: int,
    end: int,
    is_condition: bool,
    is_exception: bool,
    opens: bool,
    language: str,
) -> list[Part]:
    """Return a part without what it asks to be done."""
    words = load_reader()
    if is_condition:
        return [Part(start, end, True, is_exception, True, False, opens)]
    forbids = re.search(words['forbid'][language], piece)
    if forbids:
        return [
            Part(start, end, False, is_exception, True, _has_amount(piece, language), opens, True)
        ]
    limit = _has_amount(piece, language)
    duty = re.search(words['duty'][language], piece)
    if duty and (duty.start() or language == 'zh'):
        if not duty.start():
            return []
        end = start + duty.start()
        return [Part(start, end, False, is_exception, True, limit, opens, is_topic=opens)]
    return [Part(start, end, False, is_exception, limit or opens, limit, opens)]


def _has_amount(piece: str, language: str) -> bool:
    return bool(re.search(load_reader()['amount'][language], piece))


def is_timed(text: str) -> bool:
    """Say whether words say when something is so: 'when Anna is allergic', 老王过敏的时候."""
    words = load_reader()['condition']
    return bool(re.search(f'{words["timed_en"]}|{words["timed_zh"]}', text))


def is_contingency(folded: str, part: Part) -> bool:
    """Say whether a condition is what may happen during any task: an alarm, an empty battery."""
    words = load_reader()['contingency']
    if not part.is_condition or part.is_exception:
        return False
    return bool(re.search(f'{words["en"]}|{words["zh"]}', folded[part.start : part.end]))


def holds_anywhere(folded: str, parts: list[Part]) -> bool:
    """Say whether a rule forbids what may be done during any task, as to block a way."""
    words = load_reader()['contingency']
    says_where = any(
        part.is_condition and re.match(words['there'], folded[part.start : part.end])
        for part in parts
    )
    if says_where or find_days(folded) or not any(part.forbids for part in parts):
        return False
    return bool(re.search(words['anywhere'], folded))


def says_always(folded: str) -> bool:
    """Say whether a rule says that it holds whatever is done."""
    words = load_reader()['always']
    return bool(re.search(f'{words["en"]}|{words["zh"]}', folded))


def find_open(folded: str) -> dict[str, Any]:
    """
    Return the condition of a rule in which none was read.

    A rule about the robot itself, or about what any task must keep, holds always; of any other
    it is unknown what it is about.
    """
    handled = re.match(load_reader()['subject']['handled_zh'], folded)
    if handled and not is_of_every_task(handled[0]):
        return {'unsure': {'word': handled[0].strip(',，')}}
    if says_always(folded) or is_of_every_task(folded):
        return {}
    return {'unsure': {'word': folded.strip()}}


def is_of_every_task(folded: str) -> bool:
    """Say whether a rule is about the robot itself, or what any task must keep."""
    words = load_reader()['every']
    return bool(re.search(f'{words["en"]}|{words["zh"]}', folded))


def find_unknown_condition(folded: str, part: Part) -> list[str]:
    """Return the words of a condition, if any, unless every task meets it."""
    words = load_reader()['task']
    every_task = compile_pattern(f'{words["en"]}|{words["zh"]}')
    text = folded[part.start : part.end].strip(' ,:')
    names_any = not text.isascii() or any(
        not re.fullmatch(words['empty'], word) for word in re.findall('[a-z]+', text)
    )
    return [text] if names_any and not _holds_of_every_task(text, every_task) else []


def _holds_of_every_task(text: str, every_task: re.Pattern[str]) -> bool:
    """Say whether a condition has no word of its own: 'before you start', 'at most 5 N'."""
    words = load_reader()['task']
    if re.match(words['amount'], text):
        return True
    if not every_task.search(text):
        return False
    rest = [word for word in re.findall('[a-z]+', every_task.sub(' ', text)) if len(word) > 2]
    return not text.isascii() or all(re.fullmatch(words['empty'], word) for word in rest)


def find_unknown(folded: str, parts: list[Part]) -> list[dict[str, str]]:
    """
    Return as atoms what a rule is about where no table knows a word of it.

    That is a condition without a known word, or what is forbidden or limited. A condition that
    every task meets is none.
    """
    words = load_reader()
    if says_always(folded):
        return []
    found = []
    for part in parts:
        text = folded[part.start : part.end].strip(' ,:')
        if part.is_condition:
            found += [{'word': word} for word in find_unknown_condition(folded, part)]
        elif part.forbids:
            found += [
                {'word': match[1].strip()}
                for match in re.finditer(words['task']['unknown_en'], text)
                if not is_ignored(match[1])
            ]
            found += [
                {'word': match['zh']}
                for match in re.finditer(words['task']['unknown_zh'], text)
                if not is_ignored(match['zh'])
            ]
    return found or _find_subject(folded, parts)


def _find_subject(folded: str, parts: list[Part]) -> list[dict[str, str]]:
    """Return as an atom what a rule says something of: 'windows are cleaned with vinegar'."""
    if is_of_every_task(folded):
        return []
    words = load_reader()['subject']
    text = re.sub(r'^[^\W\d]+:\s*', '', folded).strip()
    match = next(
        filter(None, (re.match(words[one], text) for one in ('en', 'put_en', 'zh'))), None
    )
    if match is None or any(part.is_condition for part in parts):
        return []
    noun = match['noun']
    return [] if re.search(words['none'], noun) or is_ignored(noun) else [{'word': noun}]
