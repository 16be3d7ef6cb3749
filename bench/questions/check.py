"""
Questions about one month of a robot's life, with answers that are computed, not written down.

What it is: month.py makes the month (story.py is the part of it that is certain), questions.jsonl
asks about it, in English and Chinese, as operators, safety engineers, researchers and planners do.
The questions were written before the rules that read them, by another hand, who saw no code that
reads questions. Half `dev` is for building; half `report` is only counted: nobody who writes or
tunes rules reads it. A report question is no dev question with another number.

Format: one JSON object a line with `id`, `half` (dev, report), `language` (en, zh), `group`, `now`
(when it is asked; the zone is Europe/Berlin), `question`, `answer`, and `spec`, the formal
question. Only what had ended by `now` is stored then (`list_known` of month.py); sessions that are
still open belong to no answer. To fill a store, add the items in the order of their end and ask
each question at its time.

A question is right first when, with nothing given but its text and `now`,

- event: the first memory of the reply is that one;
- any_of: the first memory is one of them;
- first: the first memories are these, in this order;
- figure: the reply states that figure. `tolerance` is relative and 0 for counts; the unit may be
  any that converts to `unit`, and a share (unit 1) may be in percent. A memory in the first place
  that merely contains it does not count;
- none: the reply gives no event and says that nothing of the kind is in the window. Facts, rules
  and turns after that do no harm;
- fact: the first memory is that fact, rule or turn: the question only looks like a time or bound.

`judge` counts by these rules. A spec is an object of these parts, all of which must hold:

- kind, what, outcome, topic, env, recording, actor: the field is that, or one of these;
- text: the words are all in the text; key: the item has that key;
- from, to: it began in that half-open stretch; overlaps: it touched that stretch;
- after, before, during, session: began after the end, ended before the start, or lay within the
  one item that another spec gives; within_s limits after and before;
- where: [figure, comparison, value, unit], converted; any: at least one of these specs;
- order: [figure, or start, asc or desc], skip, take; tie: newer, where equal figures are meant;
- aggregate: count, sum, mean, median, or share with of_which; of: the figure;
- trap: the words that are no time, order or bound, in the question or in what was said;
- give: the kind of answer; also: replacements of parts, for other sound readings of the question
  (this morning from 0:00 or from 5:00), which must give the same answer.

more.jsonl, third.jsonl, fifth.jsonl, sixth.jsonl, seventh.jsonl, eighth.jsonl, ninth.jsonl,
tenth.jsonl, eleventh.jsonl, twelfth.jsonl and thirteenth.jsonl are further sets of the same
format, with the halves `tune` and `check`. The halves `check` of third.jsonl, sixth.jsonl,
tenth.jsonl, twelfth.jsonl and thirteenth.jsonl are only counted: nobody who writes rules reads
them. Those of eighth.jsonl, ninth.jsonl and
eleventh.jsonl were only counted until their counts were used up, and are for tuning since. Those
from fifth.jsonl on are by hands that had seen no question before. The half `check` of fifth.jsonl
was counted (61 of 100 right first), then looked at: it is `tune` since, and the file has no other
half.
seventh.jsonl was counted as a whole before any rule was written for it (95 of 160 right first),
and is `tune` since. The hand of
eighth.jsonl had seen six questions of sixth.jsonl, for the format; 80 of its questions are `tune`
and 120 `check`, in that proportion in each group. Before any rule was written for it, 59 of its
80 `tune` questions were right first; its `check` was counted three times since, with 102, 101 and
102 of 120, and is used up. The hand of ninth.jsonl had seen the same six, and was told by name of
some classes that were about to be built (ranges of one unit, days that are counted, comparisons
with an event); 60 of its questions are `tune` and 100 `check`. Before any rule was written for it
45 and 70 of them were right first; its `check` was counted twice since, with 77 and 79.
tenth.jsonl is no set by another hand: no other was to be had, so the hand that then changed the
rules wrote it, before it had read any rule or any other question, but having read docs/events.md.
It tells less of questions never seen than the others do. Before any rule was changed 51 of its 60
`tune` and 88 of its 100 `check` questions were right first.
The hand of eleventh.jsonl had seen no code that reads questions, and of sixth.jsonl and
tenth.jsonl only `tune` questions among the first 30 lines, for the format; 100 of its questions
are `tune` and 140 `check`. Before any rule was changed for it, 76 of its `tune` and 119 of its
`check` questions were right first. The first two `check` questions were seen by who then changed
the rules (both were right before). `check` was counted twice since, with 121, over one copy of
the store that was cut back to each moment, and with 120 by ask.py, and is used up. What was wrong
in it and in ninth.jsonl was then read, with the `tune` half of twelfth.jsonl, to change rules by.
The hand of twelfth.jsonl had seen no code that reads questions, the first part of this text, and
of eleventh.jsonl the `tune` questions among the first 40 lines; 100 of its questions are `tune`
and 140 `check`. Before any rule was changed for it, 74 of its `tune` and 114 of its `check`
questions were right first; its `check` was counted once since, with 118, and once more without a
model, with 119 by the tables alone and 118 with a classifier that is not used; it is used up.
The hand of thirteenth.jsonl had seen no code of the product, this text, and of twelfth.jsonl the
`tune` questions among the first 40 lines; 100 of its questions are `tune` and 140 `check`. Before
anything was changed for it, 82 of its `tune` and 111 of its `check` questions were right first
(81 and 110 without a model). Its `check` was counted twice since without a model, with 111 and
111, and is used up.
fourteenth.jsonl, fifteenth.jsonl and sixteenth.jsonl are by three hands with a brief that asks for
ordinary wording, short and without tricks, as operators, safety engineers, researchers and
planners type; they had seen no code of the product. The first two have 80 questions each, all
`tune`: all 160 were right first before anything was changed for them. sixteenth.jsonl has 160, all
`check`: 152 were right first when it was counted (docs/events.md lists the others). Then those
were read, and two rules changed by them, so it is used up.

Run as a program, with the name of a file or for questions.jsonl, this computes every answer again
and compares. It also refuses a question that is no good: a winner less than 2 % ahead, an event
across the edge of a window or of `now`, a figure on its bound, one text twice, halves that are
shared out in a group and language as they are not in the file (by a question or more), or a report
question whose words are those of a dev question.
`--write` fills in the answers.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import re
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Any

from month import SAID, Item, list_known, make_month, read_stamp

QUESTIONS = Path(__file__).with_name('questions.jsonl')
HALVES, MORE_HALVES, LANGUAGES = ('dev', 'report'), ('tune', 'check'), ('en', 'zh')
DIGITS = 4
"""Digits of a figure that are kept: half of the last one is far less than its tolerance."""
LEAD = 0.02
"""How far a winner must be ahead."""
BOUND_GAP = 0.004
"""How far a bound may be moved without another answer."""
ALIKE = 0.8
"""How alike questions of two halves may be, numbers and days aside."""
COMPARE: dict[str, Callable[[float, float], bool]] = {'>': gt, '<': lt, '>=': ge, '<=': le}
UNITS = {
    'N': ('N', 1.0, 0.0), 'kN': ('N', 1e3, 0.0), 'kg': ('kg', 1.0, 0.0), 'g': ('kg', 1e-3, 0.0),
    'jin': ('kg', 0.5, 0.0), 's': ('s', 1.0, 0.0), 'ms': ('s', 1e-3, 0.0), 'min': ('s', 60.0, 0.0),
    'h': ('s', 3600.0, 0.0), 'm': ('m', 1.0, 0.0), 'cm': ('m', 1e-2, 0.0), 'mm': ('m', 1e-3, 0.0),
    'm/s': ('m/s', 1.0, 0.0), 'mm/s': ('m/s', 1e-3, 0.0), 'cm/s': ('m/s', 1e-2, 0.0),
    'N·m': ('N·m', 1.0, 0.0), 'N m': ('N·m', 1.0, 0.0), 'N·cm': ('N·m', 1e-2, 0.0),
    'rad': ('rad', 1.0, 0.0), 'deg': ('rad', 0.017453292519943295, 0.0),
    'degC': ('degC', 1.0, 0.0),
    'degF': ('degC', 5 / 9, -160 / 9), '1': ('1', 1.0, 0.0), '%': ('1', 1e-2, 0.0),
}  # fmt: skip
"""Of each unit the one that figures are in, and the factor and the offset to it."""
FIELDS = ('kind', 'what', 'outcome', 'topic', 'env', 'actor', 'key')
PARTS = {
    *FIELDS, 'recording', 'text', 'from', 'to', 'overlaps', 'after', 'before', 'during', 'session',
    'within_s', 'where', 'any', 'order', 'skip', 'take', 'tie', 'aggregate', 'of', 'of_which',
    'give', 'also', 'trap',
}  # fmt: skip

Spec = dict[str, Any]
Answer = dict[str, Any]


class BadQuestionError(Exception):
    """A question has no clear right answer, or is not what its spec says."""


@dataclass(frozen=True)
class Reply:
    """Hold what was replied: keys in order, a figure with its unit, whether it says none."""

    keys: tuple[str, ...] = ()
    figure: tuple[float, str] | None = None
    says_none: bool = False


def judge(answer: Answer, reply: Reply) -> bool:
    """Tell whether a reply is right first."""
    if 'none' in answer:
        return reply.says_none and all(key.split('-')[0] in SAID for key in reply.keys)
    if 'figure' in answer:
        if reply.figure is None:
            return False
        value, unit = convert(*reply.figure)
        wanted = answer['figure']
        room: float = wanted['tolerance'] * abs(wanted['value']) + 1e-9
        return bool(unit == wanted['unit'] and abs(value - wanted['value']) <= room)
    if 'first' in answer:
        return reply.keys[: len(answer['first'])] == tuple(answer['first'])
    right = answer.get('any_of') or [answer.get('event') or answer.get('fact')]
    return bool(reply.keys) and reply.keys[0] in right


def convert(value: float, unit: str) -> tuple[float, str]:
    """Return an amount in the unit of the figures."""
    plain, factor, offset = UNITS[unit]
    return value * factor + offset, plain


def select(items: Sequence[Item], spec: Spec, now: str, *, windows: bool = True) -> list[Item]:
    """Return what meets a spec, in its order; without `windows` the stretches are left out."""
    unknown = set(spec) - PARTS
    if unknown:
        raise BadQuestionError(f'no part of a spec: {", ".join(sorted(unknown))}')
    found = [item for item in items if _has_fields(item, spec) and _passes(item, spec)]
    if 'any' in spec:
        found = [
            item
            for item in found
            if any(_has_fields(item, one) and _passes(item, one) for one in spec['any'])
        ]
    if 'session' in spec:
        key = find_one(items, spec['session'], now).key
        found = [item for item in found if item.session == key or item.key == key]
    if windows:
        for begin, end in list_windows(items, spec, now):
            found = [item for item in found if begin <= read_stamp(item.start) < end]
        if 'overlaps' in spec:
            begin, end = map(read_stamp, spec['overlaps'])
            found = [
                item
                for item in found
                if read_stamp(item.start) < end and read_stamp(item.end) >= begin
            ]
    if 'order' in spec:
        name, direction = spec['order']
        found = [item for item in found if name == 'start' or name in item.figures]
        found.sort(key=lambda item: read_stamp(item.start), reverse=True)
        if name != 'start' or direction == 'asc':
            found.sort(key=lambda item: measure(item, name), reverse=direction == 'desc')
    return found


def find_one(items: Sequence[Item], spec: Spec, now: str) -> Item:
    """Return the one item that a spec gives."""
    found = take(select(items, spec, now), spec)
    if len(found) != 1:
        raise BadQuestionError(f'{len(found)} items, not one, are {spec}')
    return found[0]


def take(found: Sequence[Item], spec: Spec) -> list[Item]:
    """Return the part of an order that is asked for."""
    skip = spec.get('skip', 0)
    return list(found[skip : skip + spec['take']] if 'take' in spec else found[skip:])


def measure(item: Item, name: str) -> float:
    """Return a figure of an item, or its start in seconds."""
    return read_stamp(item.start).timestamp() if name == 'start' else item.figures[name][0]


def list_windows(
    items: Sequence[Item], spec: Spec, now: str
) -> Iterator[tuple[datetime, datetime]]:
    """Yield the stretches in which an item must begin."""
    never, ever = read_stamp('2000-01-01T00:00+00:00'), read_stamp('2100-01-01T00:00+00:00')
    begin = read_stamp(spec['from']) if 'from' in spec else never
    yield begin, read_stamp(spec['to']) if 'to' in spec else ever
    near = timedelta(seconds=spec['within_s']) if 'within_s' in spec else None
    if 'after' in spec:
        over = read_stamp(find_one(items, spec['after'], now).end)
        yield over, over + near if near else ever
    if 'before' in spec:
        start = read_stamp(find_one(items, spec['before'], now).start)
        yield start - near if near else never, start
    if 'during' in spec:
        whole = find_one(items, spec['during'], now)
        yield read_stamp(whole.start), read_stamp(whole.end)


def _has_fields(item: Item, spec: Spec) -> bool:
    for name in FIELDS:
        if name in spec:
            wanted = spec[name] if isinstance(spec[name], list) else [spec[name]]
            if getattr(item, name) not in wanted:
                return False
    if 'recording' in spec:
        return item.recording is not None and spec['recording'] in item.recording[0]
    return True


def _passes(item: Item, spec: Spec) -> bool:
    if any(words not in item.text for words in spec.get('text', ())):
        return False
    for name, comparison, value, unit in spec.get('where', ()):
        if name not in item.figures:
            return False
        bound, plain = convert(value, unit)
        amount, own = item.figures[name]
        if own != plain:
            raise BadQuestionError(f'{name} is in {own}, not in {unit}')
        if not COMPARE[comparison](amount, bound):
            return False
    return True


def answer_spec(items: Sequence[Item], spec: Spec, now: str) -> Answer:
    """Compute the answer to a spec."""
    ordered = select(items, spec, now)
    found = take(ordered, spec)
    give = spec['give']
    if give == 'none':
        if found:
            raise BadQuestionError(f'there is something: {found[0].key}')
        return {'none': True}
    if not found and spec.get('aggregate') != 'count':
        raise BadQuestionError('there is nothing')
    if give == 'figure':
        return {'figure': aggregate(found, spec)}
    keys = [item.key for item in found]
    if give == 'any_of':
        return {'any_of': keys}
    if give == 'first':
        check_lead(ordered, spec)
        return {'first': keys}
    if len(found) != 1:
        raise BadQuestionError(f'{len(found)} items, not one: {", ".join(keys[:4])}')
    check_lead(ordered, spec)
    if (give == 'fact') != (found[0].kind in SAID):
        raise BadQuestionError(f'{give} is a {found[0].kind}')
    return {give: keys[0]}


def aggregate(found: Sequence[Item], spec: Spec) -> dict[str, Any]:
    """Return the figure that a spec asks for, with its unit."""
    how = spec['aggregate']
    if how == 'count':
        return {'value': len(found), 'unit': '1', 'tolerance': 0}
    if how == 'share':
        some = [item for item in found if _has_fields(item, spec['of_which'])]
        return {'value': round_figure(len(some) / len(found)), 'unit': '1', 'tolerance': 0.02}
    amounts = [item.figures[spec['of']] for item in found if spec['of'] in item.figures]
    if len(amounts) != len(found):
        raise BadQuestionError(f'not all have {spec["of"]}')
    reduce: dict[str, Callable[[list[float]], float]] = {
        'sum': sum, 'mean': statistics.fmean, 'median': statistics.median,
    }  # fmt: skip
    value = reduce[how]([amount for amount, _ in amounts])
    return {'value': round_figure(value), 'unit': amounts[0][1], 'tolerance': 0.01}


def round_figure(value: float) -> float:
    """Return a figure to four decimals, a small one to four digits: 0.00012346 to 0.0001235."""
    size = math.floor(math.log10(abs(value))) if value else 0
    return round(value, max(DIGITS, DIGITS - 1 - size))


def check_lead(ordered: Sequence[Item], spec: Spec) -> None:
    """Refuse a near tie at or before the last place that counts, unless a tie is meant."""
    if 'order' not in spec:
        return
    last = spec.get('skip', 0) + spec.get('take', len(ordered))
    first = max(spec.get('skip', 0) - 1, 0)
    for item, other in itertools.pairwise(ordered[first : last + 1]):
        one, two = (measure(each, spec['order'][0]) for each in (item, other))
        is_near = (
            abs(one - two) < 1
            if spec['order'][0] == 'start'
            else abs(one - two) < LEAD * max(abs(one), abs(two))
        )
        if is_near and not (
            spec.get('tie') == 'newer' and one == two and item.start > other.start
        ):
            raise BadQuestionError(f'near tie: {item.key} and {other.key}, {one} and {two}')


def check_edges(items: Sequence[Item], known: Sequence[Item], spec: Spec, now: str) -> None:
    """Refuse an item that lies across an edge of the window or `now`."""
    moment = read_stamp(now)
    edges = list(itertools.chain.from_iterable(list_windows(known, spec, now)))
    for item in select(known, spec, now, windows=False):
        start, end = read_stamp(item.start), read_stamp(item.end)
        for edge in edges:
            if start < edge < end and item.kind != 'session':
                raise BadQuestionError(f'{item.key} lies across {edge.isoformat()}')
    for item in items:
        is_open = read_stamp(item.start) <= moment < read_stamp(item.end)
        if is_open and item.kind != 'session':
            raise BadQuestionError(f'{item.key} is going on')


def move_bounds(spec: Spec, share: float) -> list[list[Any]]:
    """Return the bounds of a spec, all of them moved by a share."""
    moved = []
    for name, comparison, value, unit in spec['where']:
        bound, plain = convert(value, unit)
        moved.append([name, comparison, bound * (1 + share), plain])
    return moved


def check_question(items: Sequence[Item], question: dict[str, Any]) -> Answer:
    """Return the answer to a question that is sound in every reading of its spec."""
    spec, now = question['spec'], question['now']
    known = list_known(items, now)
    readings = [spec, *({**spec, **other} for other in spec.get('also', ()))]
    if 'where' in spec:
        readings += [
            {**spec, 'where': move_bounds(spec, share)} for share in (-BOUND_GAP, BOUND_GAP)
        ]
    answers = []
    for reading in readings:
        reading = {name: part for name, part in reading.items() if part is not None}
        answers.append(answer_spec(known, reading, now))
        check_edges(items, known, reading, now)
    for answer in answers[1:]:
        if answer != answers[0]:
            raise BadQuestionError(f'another reading gives {answer}, not {answers[0]}')
    if question['group'] == 'recording' and 'event' in answers[0]:
        key = answers[0]['event']
        if not next(item.recording for item in known if item.key == key):
            raise BadQuestionError(f'{key} was not recorded')
    if spec['give'] == 'fact':
        said = question['question'] + find_one(known, spec, now).text
        if spec['trap'] not in said:
            raise BadQuestionError(f'the trap {spec["trap"]} is not there')
    if (max(question['question']) >= '\u3000') != (question['language'] == 'zh'):
        raise BadQuestionError(f'is not {question["language"]}')
    return answers[0]


def mask(text: str) -> str:
    """Return a question without its numbers, days and punctuation."""
    text = re.sub(r'(mon|tues|wednes|thurs|fri|satur|sun)day', '@', text.lower())
    text = re.sub(r'yesterday|today|october|november|昨天|今天|前天|今早', '@', text)
    text = re.sub(r'(周|星期)[一二三四五六日天]', '@', text)
    text = re.sub(r'\d+([.:]\d+)*|[一二两三四五六七八九十]+', '#', text)
    return ' '.join(re.findall(r'[\w#@]+', text))


def list_halves(questions: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """Return the names of the two halves, which are others in a second file."""
    return MORE_HALVES if any(q['half'] in MORE_HALVES for q in questions) else HALVES


def check_set(questions: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield what is wrong with the questions as a set."""
    names = list_halves(questions)
    if strange := {q['half'] for q in questions} - set(names):
        yield f'no halves of this file: {", ".join(sorted(strange))}'
    for name in ('id', 'question'):
        counts = Counter(question[name] for question in questions)
        yield from (f'{text}: {count} times' for text, count in counts.items() if count > 1)
    sizes = Counter((q['group'], q['language'], q['half']) for q in questions)
    cells: dict[tuple[str, str], list[int]] = {}
    for group, language in sorted({(q['group'], q['language']) for q in questions}):
        both = [sizes[group, language, half] for half in names]
        if all(both):  # a half that is used up is all of it
            cells[group, language] = both
    share = sum(one for one, _ in cells.values()) / max(sum(map(sum, cells.values())), 1)
    most = 0.5 if share == 0.5 else 1  # equal halves are equal in each group and language
    for (group, language), both in cells.items():
        if abs(both[0] - share * sum(both)) >= most:
            yield f'{group} {language}: the halves have {both}'
    halves = [[q for q in questions if q['half'] == half] for half in names]
    for dev, report in itertools.product(*halves):
        if dev['language'] == report['language']:
            matcher = SequenceMatcher(None, mask(dev['question']), mask(report['question']), False)
            if matcher.real_quick_ratio() > ALIKE < matcher.quick_ratio():
                ratio = matcher.ratio()
                if ratio > ALIKE:
                    yield f'{dev["id"]} and {report["id"]} are alike: {ratio:.2f}'


def read_questions(path: Path = QUESTIONS) -> list[dict[str, Any]]:
    """Return the questions as they stand in the file."""
    return [json.loads(line) for line in path.read_text('utf-8').splitlines()]


def describe_sizes(questions: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a table of how many questions each group has."""
    sizes = Counter((q['group'], q['language'], q['half']) for q in questions)
    columns = list(itertools.product(LANGUAGES, list_halves(questions)))
    yield f'{"":12}' + ''.join(f'{f"{language} {half}":>11}' for language, half in columns)
    for group in dict.fromkeys(q['group'] for q in questions):
        row = (sizes[group, language, half] for language, half in columns)
        yield f'{group:12}' + ''.join(f'{size:11}' for size in row)
    totals = (sum(n for key, n in sizes.items() if key[1:] == column) for column in columns)
    yield f'{"all":12}' + ''.join(f'{total:11}' for total in totals)


def main() -> int:
    """Compare every answer with what its spec computes, and say what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--write', action='store_true', help='fill in the answers')
    parser.add_argument('file', nargs='?', type=Path, default=QUESTIONS, help='the questions')
    arguments = parser.parse_args()
    path, write = arguments.file, arguments.write
    items, questions = make_month(), read_questions(path)
    wrong = list(check_set(questions))
    for question in questions:
        try:
            answer = check_question(items, question)
        except (BadQuestionError, KeyError) as error:
            wrong.append(f'{question["id"]}: {error!r}')
            continue
        if write:
            question['answer'] = answer
        elif answer != question['answer']:
            wrong.append(f'{question["id"]}: {answer}, not {question["answer"]}')
    if write:
        lines = [json.dumps(question, ensure_ascii=False) + '\n' for question in questions]
        path.write_text(''.join(lines), 'utf-8')
    sys.stdout.write('\n'.join([*describe_sizes(questions), *wrong]) + '\n')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
