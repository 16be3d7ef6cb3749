"""
A year in the memory of a robot, made by rules with a fixed seed: an arm in a cell, a mobile base.

Every question knows exactly which memories answer it, because both come from the same facts.
What a person would say once is written out in robot_facts.txt.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import robot_world as world
from sets import Item, Question, RetrievalSet

SEED = 20250225
ABSENT = 'absent: '
MEANING = ('paraphrase', 'chinese over english', 'english over chinese')
"""Categories of questions that share no word with what answers them."""
_OTHERS = ('warehouse', 'line 2', 'hospital')
"""Collections that hold the same kind of memories, with other figures."""

Pairs = list[tuple[str, str]]


class Year:
    """Gather memories and the questions that they answer."""

    def __init__(self, seed: int) -> None:
        """Start with nothing."""
        self.dice = random.Random(seed)
        self.memories: dict[Item, int] = {}
        self.questions: list[Question] = []

    def keep(self, text: str, collection: str = 'default') -> int:
        """Keep a memory that is new, and return its place."""
        item = Item(text[0].upper() + text[1:], collection)
        assert item not in self.memories, f'said twice: {text}'
        self.memories[item] = len(self.memories)
        return self.memories[item]

    def ask(
        self, category: str, text: str, right: Iterable[int], collection: str = 'default'
    ) -> None:
        """Note a question and what answers it."""
        text = text[0].upper() + text[1:]
        self.questions.append(Question(text, frozenset(right), category, collection))

    def some(self, things: Iterable[Any], count: int) -> list[Any]:
        """Return so many of the things, in a random order."""
        return self.dice.sample(list(things), count)

    def number(self, low: float, high: float) -> str:
        """Return a number as people say it, now and then with a decimal."""
        if high <= 100 and self.dice.random() < 0.4:
            return f'{self.dice.uniform(low, high):.1f}'
        return str(self.dice.randint(round(low), round(high)))

    def date(self) -> str:
        """Return a day of the year 2025 in one of the ways that people write it."""
        month, day = self.dice.randint(1, 12), self.dice.randint(1, 28)
        name = world.MONTHS[month - 1]
        written = (f'{day} {name}', f'{name} {day}', f'2025-{month:02}-{day:02}')
        return self.dice.choice(written)

    def say(self, forms: Sequence[str], **words: Any) -> str:
        """Return one of the forms, filled in; what it does not use is passed over."""
        a = float(words.get('a', 0) or 0)
        filled = {
            'n': self.dice.randint(3, 40),
            'person': self.dice.choice(world.PEOPLE),
            'date': self.date(),
            'b': f'{a * self.dice.uniform(0.4, 0.8):.1f}',
            **words,
        }
        return self.dice.choice(forms).format(**filled)


def robot(seed: int = SEED) -> RetrievalSet:
    """
    Return the robot's own set: some 2,000 memories and 370 questions.

    What, where, when, numbers, negation, near-duplicates, a rare collection among many, and
    three kinds of questions that nothing answers.
    """
    whole = _year(seed)
    asked = tuple(q for q in whole.questions if q.category not in MEANING)
    return replace(whole, questions=asked)


def robot_meaning(seed: int = SEED) -> RetrievalSet:
    """Return the same memories with 145 harder questions, which share no word with the answer."""
    whole = _year(seed)
    asked = tuple(q for q in whole.questions if q.category in MEANING)
    return replace(whole, name='robot-meaning', questions=asked)


def _year(seed: int) -> RetrievalSet:
    year = Year(seed)
    for family in (
        facts, grips, locations, settings, events, failures, wishes, permits, twins, orders,
        contacts, motions, scenes, chinese, absent,
    ):  # fmt: skip
        family(year)
    for collection in _OTHERS:
        elsewhere(year, collection)
    items = list(year.memories)
    order = year.some(range(len(items)), len(items))
    place = {old: new for new, old in enumerate(order)}
    questions = [
        Question(q.text, frozenset(place[old] for old in q.right), q.category, q.collection)
        for q in year.questions
    ]
    measures = ('first', 'top 5', 'mrr')
    return RetrievalSet(
        'robot', tuple(items[old] for old in order), tuple(questions), measures, 10
    )


def facts(year: Year) -> None:
    """Keep what was written out, and ask for it as written."""
    for memory, questions in written():
        home, colon, text = memory.partition(': ')
        collection = home if colon and home.isalpha() and home.islower() else 'default'
        place = year.keep(text if collection != 'default' else memory, collection)
        is_chinese = max(memory) > '\u3000'
        crossing = 'english over chinese' if is_chinese else 'chinese over english'
        names = {'p': 'paraphrase', 'x': crossing, 'r': 'rare collection'}
        for kind, question in questions:
            year.ask(names[kind], question, [place], collection)


def written() -> Iterator[tuple[str, Pairs]]:
    """Give the memories of robot_facts.txt with their questions by kind."""
    text = Path(__file__).with_name('robot_facts.txt').read_text('utf-8')
    for block in text.split('\n\n')[1:]:
        memory, *questions = block.strip().split('\n')
        yield memory, [(line[0], line[3:]) for line in questions]


def _things() -> list[tuple[str, str]]:
    return [(kind, f'{sort} {kind}') for kind, sorts in world.THINGS.items() for sort in sorts]


def grips(year: Year) -> None:
    """Keep how hard things are gripped; most kinds of a thing stand side by side."""
    kept: dict[str, int] = {}
    for _, thing in year.some(_things(), 84):
        kept[thing] = year.keep(year.say(world.GRIPS, thing=thing, a=year.number(2, 38)))
    chosen = year.some(kept, 50)
    for category, things in (('numbers', chosen[:18]), ('near-duplicate', chosen[18:36])):
        for thing in things:
            year.ask(category, year.say(world.GRIP_QUESTIONS, thing=thing), [kept[thing]])
    unknown = [thing for _, thing in _things() if thing not in kept]
    for thing in year.some(unknown, 12):
        year.ask(ABSENT + 'near', year.say(world.GRIP_QUESTIONS, thing=thing), [])


def locations(year: Year) -> None:
    """Keep where things are, most of them alone in their place."""
    places = [form.format(n=n) for form in world.CONTAINERS for n in range(1, 10)]
    known = year.some(world.ITEMS, len(world.ITEMS) - 8)
    homes = dict(zip(known, year.some(places, len(known)), strict=True))
    homes[known[0]], homes[known[1]] = homes[known[2]], homes[known[3]]
    kept = {
        item: year.keep(year.say(world.LOCATIONS, item=item, place=place))
        for item, place in homes.items()
    }
    for item in year.some(known[4:], 34):
        year.ask('where', year.say(world.LOCATION_QUESTIONS, item=item), [kept[item]])
    for item in known[:10]:
        same = [kept[other] for other in known if homes[other] == homes[item]]
        form = year.dice.choice(('What is in {}?', 'What lies in {}?', 'What would I find in {}?'))
        year.ask('what', form.format(homes[item]), same)
    for item in world.ITEMS:
        if item not in kept:
            year.ask(ABSENT + 'near', year.say(world.LOCATION_QUESTIONS, item=item), [])


def settings(year: Year) -> None:
    """Keep what machines are set to."""
    kept = {}
    for form, parameters in world.MACHINES.items():
        for n, (what, unit, low, high) in itertools.product(range(1, 7), parameters):
            words = {'machine': form.format(n=n), 'what': what, 'unit': unit}
            text = year.say(world.SETTINGS, **words, value=year.number(low, high))
            kept[year.keep(text)] = words
    for place in year.some(kept, 25):
        year.ask('numbers', year.say(world.SETTING_QUESTIONS, **kept[place]), [place])


def _work() -> list[tuple[str, str]]:
    return [(subject, kind) for subject, kinds in world.SUBJECTS.items() for kind in kinds]


def events(year: Year) -> None:
    """Keep when something was done to a part, once for each part and kind of work."""
    for count, (subject, kind) in enumerate(year.some(_work(), 125)):
        done, asked, other = world.WORK[kind]
        forms = world.BROKE if kind == 'b' else world.EVENTS
        place = year.keep(year.say(forms, subject=subject, done=done))
        if count >= 36:
            continue
        if kind == 'b':
            question = f'When did the {subject} break?'
        elif count % 3 == 0:
            question = f'On which day did somebody {other} the {subject}?'
        elif kind == 'f':
            question = f'When was the firmware of the {subject} updated?'
        else:
            question = f'When was the {subject} {asked}?'
        year.ask('when', question, [place])


def failures(year: Year) -> None:
    """Keep what went wrong where, once for each thing and place."""
    pairs = year.some(itertools.product(_things(), world.STATIONS), 190)
    for count, ((_, thing), station) in enumerate(pairs):
        cause, cure = year.dice.choice(world.CAUSES)
        words = {'thing': thing, 'place': station, 'cause': cause, 'cure': cure}
        place = year.keep(year.say(world.FAILURES, **words))
        if count < 22:
            year.ask('what', year.say(world.FAILURE_QUESTIONS, **words), [place])


def wishes(year: Year) -> None:
    """Keep what people want; not everybody has said everything."""
    both = list(itertools.product(world.PEOPLE, world.WISHES))
    year.dice.shuffle(both)
    for count, (person, (one, other, question, values)) in enumerate(both):
        asked = question.format(p=person)
        if count < 6:
            year.ask(ABSENT + 'near', asked, [])
            continue
        told = year.dice.choice((one, other)).format(p=person, v=year.dice.choice(values))
        place = year.keep(told)
        if count < 20:
            year.ask('what', asked, [place])


def permits(year: Year) -> None:
    """Keep what is allowed and what is not, and ask for either."""
    for allowed, question, forbidden, subjects, general in world.PERMITS:
        mixed = year.some(subjects, len(subjects))
        half = len(mixed) // 2
        good = [year.keep(allowed.format(s=subject)) for subject in mixed[:half]]
        bad = [
            year.keep(form.format(s=subject))
            for form, subject in zip(itertools.cycle(forbidden), mixed[half:], strict=False)
        ]
        year.ask('negation', general, bad)
        year.ask('negation', question.format(s=mixed[0]), good[:1])
        for subject, place in zip(mixed[half : half + 2], bad, strict=False):
            year.ask('negation', question.format(s=subject), [place])


def twins(year: Year) -> None:
    """Keep sentences that differ in a word or a number, and ask for one of them."""
    for form, question, slots in world.TWINS:
        chosen = [slot for slot in itertools.product(*slots) if slot[0] != slot[1]]
        kept = {slot: year.keep(form.format(*slot, v=year.dice.randint(3, 95))) for slot in chosen}
        for slot in year.some(kept, 4):
            year.ask('near-duplicate', question.format(*slot), [kept[slot]])


def orders(year: Year) -> None:
    """Keep what the robot was told to do; each thing and place once."""
    pairs = year.some(itertools.product(_things(), world.STATIONS), 90)
    told: dict[str, list[int]] = {}
    for (_, thing), station in pairs:
        place = year.keep(year.say(world.ORDERS, thing=thing, place=station))
        told.setdefault(thing, []).append(place)
    for thing in year.some((thing for thing, places in told.items() if len(places) == 1), 10):
        year.ask('where', f'At which place was I told to handle the {thing}?', told[thing])


def contacts(year: Year) -> None:
    """Keep contacts in the words of the contact detector."""
    kept: dict[tuple[str, str, str], list[int]] = {}
    peaks: dict[str, list[int]] = {}
    for _ in range(240):
        kind = year.dice.choice(('push', 'push', 'slide', 'tap', 'hold', 'collision'))
        peak = year.dice.uniform(26, 120) if kind == 'collision' else year.dice.uniform(1, 60)
        strength = 'Hard contact' if peak >= 15 else 'Contact' if peak >= 5 else 'Light contact'
        frame, axis = year.dice.choice(world.FRAMES), year.dice.choice('xyz')
        sign, lasts = year.dice.choice('+-'), {'tap': (0.1, 0.3), 'hold': (2.0, 9.0)}
        seconds = year.dice.uniform(*lasts.get(kind, (0.4, 5.0)))
        over = max(band for band in (1, 2, 5, 10, 20, 50, 100) if band <= peak)
        mean = peak * year.dice.uniform(0.3, 0.8)
        text = (
            f'{strength} for {seconds:.1f} s on {frame}: {kind} over {over} N, '
            f'peak {peak:.1f} N, mean {mean:.1f} N, along {sign}{axis}, '
            f'impulse {mean * seconds:.1f} N s'
        )
        place = year.keep(text)
        kept.setdefault((kind, frame, f'{sign}{axis}'), []).append(place)
        peaks.setdefault(f'{peak:.1f}', []).append(place)
    for peak, places in year.some(
        ((p, where) for p, where in peaks.items() if len(where) == 1), 8
    ):
        year.ask('numbers', f'Which contact had a peak of {peak} newtons?', places)
    few = [(key, places) for key, places in kept.items() if len(places) <= 2]
    for (kind, frame, axis), places in year.some(few, 8):
        year.ask('what', f'Was there a {kind} on {frame} along {axis}?', places)


def motions(year: Year) -> None:
    """Keep motions in the words of the motion detector."""
    efforts: dict[str, list[int]] = {}
    for _ in range(170):
        moved = year.some(world.JOINTS, year.dice.randint(1, 3))
        speed, effort = year.dice.uniform(0.05, 2.4), f'{year.dice.uniform(2, 140):.1f}'
        pace = 'Fast motion' if speed > 1.2 else 'Slow motion' if speed < 0.2 else 'Motion'
        told = [f'{joint} {year.dice.uniform(0.05, 3.1):.2f} rad' for joint in moved]
        listed = ' and '.join([', '.join(told[:-1]), told[-1]] if len(told) > 1 else told)
        place = year.keep(
            f'{pace} for {year.dice.uniform(0.4, 9):.1f} s: moved {listed}, '
            f'peak speed {speed:.2f} rad/s ({moved[0]}), peak effort {effort} N m ({moved[-1]})'
        )
        efforts.setdefault(effort, []).append(place)
    once = [(effort, places) for effort, places in efforts.items() if len(places) == 1]
    for effort, places in year.some(once, 6):
        year.ask('numbers', f'During which motion did the effort reach {effort} N m?', places)


def scenes(year: Year) -> None:
    """Keep pictures in the words of the scene detector."""
    kept: dict[tuple[str, str, str, str], list[int]] = {}
    for _ in range(170):
        colour, where = year.dice.choice(world.COLOURS), year.dice.choice(world.WHERE)
        camera = year.dice.choice(world.CAMERAS)
        what = year.dice.choice(('appeared', 'disappeared'))
        link = {'disappeared': 'from the', 'appeared': 'in the' if where == 'centre' else 'at the'}
        thing = f'an {colour}' if colour[0] == 'o' else f'a {colour}'
        wide, high = year.dice.randint(12, 190), year.dice.randint(12, 150)
        place = year.keep(
            f'The camera ({camera}) sees: {thing} object {what} {link[what]} {where} '
            f'({wide} x {high} pixels; {year.dice.uniform(0.2, 9):.1f} % of the picture changed)'
        )
        kept.setdefault((colour, what, where, camera), []).append(place)
    for (colour, what, where, camera), places in year.some(kept.items(), 12):
        seen = 'appear' if what == 'appeared' else 'disappear'
        question = f'When did {camera} see something {colour} {seen}, {where} in the picture?'
        year.ask('near-duplicate', question, places)


def chinese(year: Year) -> None:
    """Keep facts in Chinese, and ask for them in both languages' ways of naming numbers."""
    for count, thing in enumerate(year.some(world.CHINESE_THINGS, 20)):
        text = year.say(world.CHINESE_GRIPS, thing=thing, a=year.number(2, 38))
        place = year.keep(text)
        if count < 8:
            year.ask('numbers', f'{thing}要用多大的力抓？', [place])
    places = [form.format(n=n) for form in world.CHINESE_PLACES for n in range(1, 5)]
    homes = year.some(places, len(world.CHINESE_ITEMS))
    for count, (item, home) in enumerate(zip(world.CHINESE_ITEMS, homes, strict=True)):
        told = year.dice.choice(('{}在{}里。', '{}放在{}。', '{}已经搬到{}。'))
        place = year.keep(told.format(item, home))
        if count < 8:
            asked = year.dice.choice(('{}放哪儿了？', '在哪里能找到{}？'))
            year.ask('where', asked.format(item), [place])


def absent(year: Year) -> None:
    """Ask what nothing in the store answers: of the robot's world, and of others."""
    for category, questions in world.ABSENT.items():
        for question in questions:
            year.ask(ABSENT + category, question, [])


def elsewhere(year: Year, collection: str) -> None:
    """Keep the same kinds of facts in another collection, with figures of its own."""
    for _, thing in year.some(_things(), 40):
        year.keep(year.say(world.GRIPS, thing=thing, a=year.number(2, 38)), collection)
    places = [form.format(n=n) for form in world.CONTAINERS for n in range(1, 10)]
    for item, place in zip(year.some(world.ITEMS, 40), year.some(places, 40), strict=True):
        year.keep(year.say(world.LOCATIONS, item=item, place=place), collection)
    for subject, kind in year.some(_work(), 50):
        forms = world.BROKE if kind == 'b' else world.EVENTS
        year.keep(year.say(forms, subject=subject, done=world.WORK[kind][0]), collection)
