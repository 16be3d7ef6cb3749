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

    def add(self, text: str, collection: str = 'default') -> int:
        """Add a memory that is new, and return its place."""
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

    def choose(self, things: Iterable[Any], count: int) -> list[Any]:
        """Return so many of the things, in a random order."""
        return self.dice.sample(list(things), count)

    def format_number(self, low: float, high: float) -> str:
        """Return a number as people say it, now and then with a decimal."""
        if high <= 100 and self.dice.random() < 0.4:
            return f'{self.dice.uniform(low, high):.1f}'
        return str(self.dice.randint(round(low), round(high)))

    def format_date(self) -> str:
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
            'date': self.format_date(),
            'b': f'{a * self.dice.uniform(0.4, 0.8):.1f}',
            **words,
        }
        return self.dice.choice(forms).format(**filled)


def make_robot_set(seed: int = SEED) -> RetrievalSet:
    """
    Return the robot's own set: some 2,000 memories and 370 questions.

    What, where, when, numbers, negation, near-duplicates, a rare collection among many, and
    three kinds of questions that nothing answers.
    """
    whole = _make_set(seed)
    asked = tuple(q for q in whole.questions if q.category not in MEANING)
    return replace(whole, questions=asked)


def make_meaning_set(seed: int = SEED) -> RetrievalSet:
    """Return the same memories with 145 harder questions, which share no word with the answer."""
    whole = _make_set(seed)
    asked = tuple(q for q in whole.questions if q.category in MEANING)
    return replace(whole, name='robot-meaning', questions=asked)


def _make_set(seed: int) -> RetrievalSet:
    year = Year(seed)
    for add_family in (
        add_facts,
        add_grips,
        add_locations,
        add_settings,
        add_events,
        add_failures,
        add_preferences,
        add_permissions,
        add_near_duplicates,
        add_instructions,
        add_contacts,
        add_motions,
        add_scenes,
        add_chinese,
        ask_absent,
    ):
        add_family(year)
    for collection in _OTHERS:
        add_other_collection(year, collection)
    items = list(year.memories)
    order = year.choose(range(len(items)), len(items))
    place = {old: new for new, old in enumerate(order)}
    questions = [
        Question(q.text, frozenset(place[old] for old in q.right), q.category, q.collection)
        for q in year.questions
    ]
    measures = ('first', 'top 5', 'mrr')
    return RetrievalSet(
        'robot', tuple(items[old] for old in order), tuple(questions), measures, 10
    )


def add_facts(year: Year) -> None:
    """Add the memories of robot_facts.txt with their questions."""
    for memory, questions in read_written():
        home, colon, text = memory.partition(': ')
        collection = home if colon and home.isalpha() and home.islower() else 'default'
        place = year.add(text if collection != 'default' else memory, collection)
        is_chinese = max(memory) > '\u3000'
        crossing = 'english over chinese' if is_chinese else 'chinese over english'
        names = {'p': 'paraphrase', 'x': crossing, 'r': 'rare collection'}
        for kind, question in questions:
            year.ask(names[kind], question, [place], collection)


def read_written() -> Iterator[tuple[str, Pairs]]:
    """Yield the memories of robot_facts.txt, each with its questions by category."""
    text = Path(__file__).with_name('robot_facts.txt').read_text('utf-8')
    for block in text.split('\n\n')[1:]:
        memory, *questions = block.strip().split('\n')
        yield memory, [(line[0], line[3:]) for line in questions]


def _list_things() -> list[tuple[str, str]]:
    return [(kind, f'{sort} {kind}') for kind, sorts in world.THINGS.items() for sort in sorts]


def add_grips(year: Year) -> None:
    """Add grip forces of things; most kinds of a thing stand side by side."""
    kept: dict[str, int] = {}
    for _, thing in year.choose(_list_things(), 84):
        kept[thing] = year.add(year.say(world.GRIPS, thing=thing, a=year.format_number(2, 38)))
    chosen = year.choose(kept, 50)
    for category, things in (('numbers', chosen[:18]), ('near-duplicate', chosen[18:36])):
        for thing in things:
            year.ask(category, year.say(world.GRIP_QUESTIONS, thing=thing), [kept[thing]])
    unknown = [thing for _, thing in _list_things() if thing not in kept]
    for thing in year.choose(unknown, 12):
        year.ask(ABSENT + 'near', year.say(world.GRIP_QUESTIONS, thing=thing), [])


def add_locations(year: Year) -> None:
    """Add locations of things, most of them alone in their place."""
    places = [form.format(n=n) for form in world.CONTAINERS for n in range(1, 10)]
    known = year.choose(world.ITEMS, len(world.ITEMS) - 8)
    homes = dict(zip(known, year.choose(places, len(known)), strict=True))
    homes[known[0]], homes[known[1]] = homes[known[2]], homes[known[3]]
    kept = {
        item: year.add(year.say(world.LOCATIONS, item=item, place=place))
        for item, place in homes.items()
    }
    for item in year.choose(known[4:], 34):
        year.ask('where', year.say(world.LOCATION_QUESTIONS, item=item), [kept[item]])
    for item in known[:10]:
        same = [kept[other] for other in known if homes[other] == homes[item]]
        form = year.dice.choice(('What is in {}?', 'What lies in {}?', 'What would I find in {}?'))
        year.ask('what', form.format(homes[item]), same)
    for item in world.ITEMS:
        if item not in kept:
            year.ask(ABSENT + 'near', year.say(world.LOCATION_QUESTIONS, item=item), [])


def add_settings(year: Year) -> None:
    """Add settings of machines."""
    kept = {}
    for form, parameters in world.MACHINES.items():
        for n, (what, unit, low, high) in itertools.product(range(1, 7), parameters):
            words = {'machine': form.format(n=n), 'what': what, 'unit': unit}
            text = year.say(world.SETTINGS, **words, value=year.format_number(low, high))
            kept[year.add(text)] = words
    for place in year.choose(kept, 25):
        year.ask('numbers', year.say(world.SETTING_QUESTIONS, **kept[place]), [place])


def _list_work() -> list[tuple[str, str]]:
    return [(subject, kind) for subject, kinds in world.SUBJECTS.items() for kind in kinds]


def add_events(year: Year) -> None:
    """Add work done on parts, once for each part and kind of work."""
    for count, (subject, kind) in enumerate(year.choose(_list_work(), 125)):
        done, asked, other = world.WORK[kind]
        forms = world.BROKE if kind == 'b' else world.EVENTS
        place = year.add(year.say(forms, subject=subject, done=done))
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


def add_failures(year: Year) -> None:
    """Add failures, once for each thing and place."""
    pairs = year.choose(itertools.product(_list_things(), world.STATIONS), 190)
    for count, ((_, thing), station) in enumerate(pairs):
        cause, cure = year.dice.choice(world.CAUSES)
        words = {'thing': thing, 'place': station, 'cause': cause, 'cure': cure}
        place = year.add(year.say(world.FAILURES, **words))
        if count < 22:
            year.ask('what', year.say(world.FAILURE_QUESTIONS, **words), [place])


def add_preferences(year: Year) -> None:
    """Add preferences of people; not everybody has said everything."""
    both = list(itertools.product(world.PEOPLE, world.WISHES))
    year.dice.shuffle(both)
    for count, (person, (one, other, question, values)) in enumerate(both):
        asked = question.format(p=person)
        if count < 6:
            year.ask(ABSENT + 'near', asked, [])
            continue
        told = year.dice.choice((one, other)).format(p=person, v=year.dice.choice(values))
        place = year.add(told)
        if count < 20:
            year.ask('what', asked, [place])


def add_permissions(year: Year) -> None:
    """Add permissions and prohibitions, and ask for either."""
    for allowed, question, forbidden, subjects, general in world.PERMITS:
        mixed = year.choose(subjects, len(subjects))
        half = len(mixed) // 2
        good = [year.add(allowed.format(s=subject)) for subject in mixed[:half]]
        bad = [
            year.add(form.format(s=subject))
            for form, subject in zip(itertools.cycle(forbidden), mixed[half:], strict=False)
        ]
        year.ask('negation', general, bad)
        year.ask('negation', question.format(s=mixed[0]), good[:1])
        for subject, place in zip(mixed[half : half + 2], bad, strict=False):
            year.ask('negation', question.format(s=subject), [place])


def add_near_duplicates(year: Year) -> None:
    """Add sentences that differ in a word or a number, and ask for one of them."""
    for form, question, slots in world.TWINS:
        chosen = [slot for slot in itertools.product(*slots) if slot[0] != slot[1]]
        kept = {slot: year.add(form.format(*slot, v=year.dice.randint(3, 95))) for slot in chosen}
        for slot in year.choose(kept, 4):
            year.ask('near-duplicate', question.format(*slot), [kept[slot]])


def add_instructions(year: Year) -> None:
    """Add instructions; each thing and place once."""
    pairs = year.choose(itertools.product(_list_things(), world.STATIONS), 90)
    told: dict[str, list[int]] = {}
    for (_, thing), station in pairs:
        place = year.add(year.say(world.ORDERS, thing=thing, place=station))
        told.setdefault(thing, []).append(place)
    for thing in year.choose((thing for thing, places in told.items() if len(places) == 1), 10):
        year.ask('where', f'At which place was I told to handle the {thing}?', told[thing])


def add_contacts(year: Year) -> None:
    """Add contacts in the words of the contact detector."""
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
        place = year.add(text)
        kept.setdefault((kind, frame, f'{sign}{axis}'), []).append(place)
        peaks.setdefault(f'{peak:.1f}', []).append(place)
    for peak, places in year.choose(
        ((p, where) for p, where in peaks.items() if len(where) == 1), 8
    ):
        year.ask('numbers', f'Which contact had a peak of {peak} newtons?', places)
    few = [(key, places) for key, places in kept.items() if len(places) <= 2]
    for (kind, frame, axis), places in year.choose(few, 8):
        year.ask('what', f'Was there a {kind} on {frame} along {axis}?', places)


def add_motions(year: Year) -> None:
    """Add motions in the words of the motion detector."""
    efforts: dict[str, list[int]] = {}
    for _ in range(170):
        moved = year.choose(world.JOINTS, year.dice.randint(1, 3))
        speed, effort = year.dice.uniform(0.05, 2.4), f'{year.dice.uniform(2, 140):.1f}'
        pace = 'Fast motion' if speed > 1.2 else 'Slow motion' if speed < 0.2 else 'Motion'
        told = [f'{joint} {year.dice.uniform(0.05, 3.1):.2f} rad' for joint in moved]
        listed = ' and '.join([', '.join(told[:-1]), told[-1]] if len(told) > 1 else told)
        place = year.add(
            f'{pace} for {year.dice.uniform(0.4, 9):.1f} s: moved {listed}, '
            f'peak speed {speed:.2f} rad/s ({moved[0]}), peak effort {effort} N m ({moved[-1]})'
        )
        efforts.setdefault(effort, []).append(place)
    once = [(effort, places) for effort, places in efforts.items() if len(places) == 1]
    for effort, places in year.choose(once, 6):
        year.ask('numbers', f'During which motion did the effort reach {effort} N m?', places)


def add_scenes(year: Year) -> None:
    """Add scenes in the words of the scene detector."""
    kept: dict[tuple[str, str, str, str], list[int]] = {}
    for _ in range(170):
        colour, where = year.dice.choice(world.COLOURS), year.dice.choice(world.WHERE)
        camera = year.dice.choice(world.CAMERAS)
        what = year.dice.choice(('appeared', 'disappeared'))
        link = {'disappeared': 'from the', 'appeared': 'in the' if where == 'centre' else 'at the'}
        thing = f'an {colour}' if colour[0] == 'o' else f'a {colour}'
        wide, high = year.dice.randint(12, 190), year.dice.randint(12, 150)
        place = year.add(
            f'The camera ({camera}) sees: {thing} object {what} {link[what]} {where} '
            f'({wide} x {high} pixels; {year.dice.uniform(0.2, 9):.1f} % of the picture changed)'
        )
        kept.setdefault((colour, what, where, camera), []).append(place)
    for (colour, what, where, camera), places in year.choose(kept.items(), 12):
        seen = 'appear' if what == 'appeared' else 'disappear'
        question = f'When did {camera} see something {colour} {seen}, {where} in the picture?'
        year.ask('near-duplicate', question, places)


def add_chinese(year: Year) -> None:
    """Add facts in Chinese, and ask for them in both languages' ways of naming numbers."""
    for count, thing in enumerate(year.choose(world.CHINESE_THINGS, 20)):
        text = year.say(world.CHINESE_GRIPS, thing=thing, a=year.format_number(2, 38))
        place = year.add(text)
        if count < 8:
            year.ask('numbers', f'{thing}要用多大的力抓？', [place])
    places = [form.format(n=n) for form in world.CHINESE_PLACES for n in range(1, 5)]
    homes = year.choose(places, len(world.CHINESE_ITEMS))
    for count, (item, home) in enumerate(zip(world.CHINESE_ITEMS, homes, strict=True)):
        told = year.dice.choice(('{}在{}里。', '{}放在{}。', '{}已经搬到{}。'))
        place = year.add(told.format(item, home))
        if count < 8:
            asked = year.dice.choice(('{}放哪儿了？', '在哪里能找到{}？'))
            year.ask('where', asked.format(item), [place])


def ask_absent(year: Year) -> None:
    """Ask what nothing in the store answers: of the robot's world, and of others."""
    for category, questions in world.ABSENT.items():
        for question in questions:
            year.ask(ABSENT + category, question, [])


def add_other_collection(year: Year, collection: str) -> None:
    """Add the same kinds of facts in another collection, with figures of its own."""
    for _, thing in year.choose(_list_things(), 40):
        year.add(year.say(world.GRIPS, thing=thing, a=year.format_number(2, 38)), collection)
    places = [form.format(n=n) for form in world.CONTAINERS for n in range(1, 10)]
    for item, place in zip(year.choose(world.ITEMS, 40), year.choose(places, 40), strict=True):
        year.add(year.say(world.LOCATIONS, item=item, place=place), collection)
    for subject, kind in year.choose(_list_work(), 50):
        forms = world.BROKE if kind == 'b' else world.EVENTS
        year.add(year.say(forms, subject=subject, done=world.WORK[kind][0]), collection)
