"""
One month in the life of a UR5e cell, 2026-10-20 to 2026-11-20, as a robot would remember it.

`make_month()` returns the same items for the same seed: contacts, motions, scenes, faults, tasks,
states and sessions that were measured, and facts, rules and turns that were said. Run as a program
it writes them as JSON lines, in the order in which they became known.

The zone is Europe/Berlin. Its clocks are put back on 2026-10-25, in the middle of a night shift.
Units: N, N·m, s, m, m/s, rad, rad/s, kg, degC, and 1 for a share.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime, timedelta, timezone
from functools import cache
from zoneinfo import ZoneInfo

import story

SEED = 20261120
ZONE = ZoneInfo('Europe/Berlin')
ROBOT = 'ur5e-1'
FIRST, LAST = date(2026, 10, 20), date(2026, 11, 20)
SAID = ('fact', 'rule', 'turn')
MARGIN_S = 100
"""Nothing is drawn so near to what the story tells."""
JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2', 'wrist_3')
PARTS = {
    'bearing cap': (0.21, 0.29),
    'clutch disc': (0.42, 0.68),
    'gear blank': (0.9, 1.45),
    'pump lid': (1.1, 1.9),
    'valve block': (1.6, 2.9),
}
"""What is put on the scale, from and to how many kg."""
FRAMES = {'/wrench': 'tool0', '/wrist_wrench': 'wrist_3_link'}


@dataclass(frozen=True)
class Item:
    """
    Hold one thing that the robot remembers; what was said has a time and an actor only.

    `what` is the sort within the kind (push, grip_loss, peg_insertion, ...); `session` is the key
    of a session, `task` the name of what was worked on, `recording` a path and the offset in s.
    A recording that is None was never made; `figures` maps a name to a value and its unit.
    """

    key: str
    kind: str
    what: str
    start: str
    peak: str | None
    end: str
    text: str
    topic: str = ''
    frame: str = ''
    robot: str = ROBOT
    env: str = ''
    session: str = ''
    task: str = ''
    direction: str = ''
    outcome: str | None = None
    actor: str = ''
    recording: tuple[str, float] | None = None
    figures: dict[str, tuple[float, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Shift:
    """Hold one session before anything happens in it."""

    name: str
    start: datetime
    end: datetime
    env: str
    task: str

    @property
    def key(self) -> str:
        """Return the key of the session."""
        return f'session-{self.start.astimezone(ZONE):%m%d}-{self.name}'

    @property
    def folder(self) -> str:
        """Return the folder of its recordings."""
        return f'{self.start.astimezone(ZONE):%Y-%m-%d}_{self.name}'

    @property
    def is_recorded(self) -> bool:
        """Tell whether the recorder was on."""
        return self.key.removeprefix('session-') not in story.UNRECORDED


class Dice:
    """Draw numbers by random.Random.random alone, which no release of Python changes."""

    def __init__(self, seed: int) -> None:
        """Begin at the seed."""
        self._random = random.Random(seed).random
        self._taken: dict[tuple[str, str], list[float]] = {}

    def draw(self, low: float, high: float) -> float:
        """Return a number between the two."""
        return low + (high - low) * self._random()

    def choose(self, things: Sequence[str], weights: Sequence[float] = ()) -> str:
        """Return one of the things, each as likely as its weight."""
        share = self._random() * (sum(weights) if weights else len(things))
        for thing, weight in zip(things, weights or [1.0] * len(things), strict=True):
            share -= weight
            if share < 0:
                return thing
        return things[-1]

    def draw_apart(self, name: str, day: str, low: float, high: float, digits: int) -> float:
        """
        Return a number, small ones more often, that is no near tie of another one of its day.

        Where there is no room left after 60 draws a near tie is returned.
        """
        taken = self._taken.setdefault((name, day), [])
        value = low
        for _ in range(60):
            value = round(math.exp(self.draw(math.log(low), math.log(high))), digits)
            if all(abs(value - other) > 0.022 * max(value, other) for other in taken):
                break
        taken.append(value)
        return value


def read_time(words: str) -> datetime:
    """Return a local time of 2026, 'MM-DD HH:MM:SS', with '+02:00' behind it where it is twice."""
    day, clock, *offset = words.split()
    naive = datetime.fromisoformat(f'2026-{day}T{clock}')
    if offset:
        return datetime.fromisoformat(f'{naive.isoformat()}{offset[0]}').astimezone(timezone.utc)
    return naive.replace(tzinfo=ZONE).astimezone(timezone.utc)


def format_time(moment: datetime) -> str:
    """Return a time in the zone of the cell, with its offset."""
    return moment.astimezone(ZONE).isoformat(timespec='milliseconds')


def format_amount(value: float) -> str:
    """Return a number without needless digits."""
    return f'{value:.10g}'


class Month:
    """Gather the items of the month."""

    def __init__(self, seed: int) -> None:
        """Start with nothing."""
        self.dice = Dice(seed)
        self.items: dict[str, Item] = {}
        self.shifts = list(self._plan_shifts())
        self._reserved = sorted(self._list_reserved())
        self._boxes = self._housings = self._screws = 0

    def _plan_shifts(self) -> Iterator[Shift]:
        mains = ('peg_insertion', 'screwing', 'palletizing', 'peg_insertion', 'door_opening')
        count = 0
        day = FIRST
        while day <= LAST:
            name = f'{day:%m-%d}'
            hours = []
            if day.weekday() < 5:
                hours.append(('early', '06:48', '11:55') if name != '11-19' else
                             ('early', '07:06', '11:55'))  # fmt: skip
                if name not in story.EARLY_ONLY:
                    hours.append(('late', '12:46', '16:52'))
            if name in story.EVENINGS:
                hours.append(('evening', '18:05', '20:20'))
            if name in story.NIGHTS:
                hours.append(('night', '22:02', '05:32'))
            if name == '11-14':
                hours.append(('maintenance', '10:04', '11:37'))
            env = 'demo-hall' if name in story.DEMO_DAYS else 'cell-2'
            for shift, begin, over in hours:
                until = day + timedelta(days=over < begin)
                start = read_time(f'{name} {begin}:00') + timedelta(seconds=self._jitter())
                end = read_time(f'{until:%m-%d} {over}:00') + timedelta(seconds=self._jitter())
                main = 'door_opening' if shift == 'evening' else mains[count % len(mains)]
                yield Shift(shift, start, end, env, main)
                count += 1
            day += timedelta(days=1)

    def _jitter(self) -> int:
        return round(self.dice.draw(-170, 170))

    @staticmethod
    def _list_reserved() -> Iterator[tuple[datetime, datetime]]:
        aside = timedelta(seconds=MARGIN_S)
        timed = [(row[1], row[2]) for row in story.FAULTS]
        timed += [(row[1], row[4]) for row in story.CONTACTS]
        timed += [(row[1], row[2]) for row in story.TASKS]
        timed += [(row[0], 0.0) for row in story.SCENES]
        for words, seconds in timed:
            start = read_time(words)
            yield start - aside, start + timedelta(seconds=seconds) + aside
        for start_words, end_words in story.QUIET:
            yield read_time(start_words), read_time(end_words)

    def find_shift(self, moment: datetime) -> Shift | None:
        """Return the session that is open at a moment."""
        return next((shift for shift in self.shifts if shift.start <= moment < shift.end), None)

    def find_free(self, start: datetime, seconds: float) -> datetime:
        """Return the first moment from `start` on at which nothing of the story is near."""
        for begin, over in self._reserved:
            if begin < start + timedelta(seconds=seconds) and start < over:
                start = over
        return start

    def add(
        self,
        kind: str,
        what: str,
        start: datetime,
        seconds: float,
        text: str,
        *,
        peak_at: float | None = None,
        name: str = '',
        topic: str = '',
        frame: str = '',
        task: str = '',
        direction: str = '',
        outcome: str | None = None,
        actor: str = '',
        figures: dict[str, tuple[float, str]] | None = None,
    ) -> Item:
        """Add what began at a moment and lasted so long; it belongs to the session it is in."""
        local = start.astimezone(ZONE)
        key = f'{kind}-{name or f"{local:%m%d-%H%M%S}"}'
        if key in self.items and not name:
            key += f'-{what}'
        assert key not in self.items, f'said twice: {key}'
        shift = self.find_shift(start) if kind not in SAID else None
        recording = None
        if shift and shift.is_recorded:
            inside = (start - shift.start).total_seconds()
            number = int(inside // 7200)
            path = f'bags/{shift.folder}/{shift.folder}_{number}.mcap'
            recording = (path, round(inside - 7200 * number, 3))
        peak = None if peak_at is None else format_time(start + timedelta(seconds=peak_at))
        self.items[key] = Item(
            key, kind, what, format_time(start), peak,
            format_time(start + timedelta(seconds=seconds)), text, topic, frame,
            '' if kind in SAID else ROBOT, shift.env if shift else '', shift.key if shift else '',
            task or (shift.task if shift else ''), direction, outcome, actor, recording,
            figures or {},
        )  # fmt: skip
        return self.items[key]

    def add_contact(
        self, what: str, start: datetime, topic: str, peak: float, seconds: float, direction: str,
        task: str = '',
    ) -> None:  # fmt: skip
        """Add a contact, in the words of the contact detector."""
        strength = 'Hard contact' if peak >= 15 else 'Light contact' if peak < 5 else 'Contact'
        mean = round(peak * self.dice.draw(0.42, 0.71), 2)
        over = max(band for band in (1, 2, 5, 10, 20, 50) if band <= peak)
        frame = FRAMES[topic]
        text = (
            f'{strength} for {format_amount(seconds)} s on {frame}: {what} over {over} N, '
            f'peak {format_amount(peak)} N, mean {format_amount(mean)} N, along {direction}'
        )
        self.add(
            'contact', what, start, seconds, text,
            peak_at=round(seconds * self.dice.draw(0.2, 0.6), 3), topic=topic, frame=frame,
            task=task, direction=direction,
            figures={
                'peak_force': (peak, 'N'), 'mean_force': (mean, 'N'), 'duration': (seconds, 's'),
            },
        )  # fmt: skip

    def add_motion(self, start: datetime, task: str = '') -> float:
        """Add a motion, in the words of the motion detector, and return how long it lasted."""
        day = f'{start.astimezone(ZONE):%m%d}'
        path = self.dice.draw_apart('path', day, 0.04, 1.62, 3)
        speed = self.dice.draw_apart('speed', day, 0.05, 0.94, 3)
        seconds = round(max(path / speed * self.dice.draw(1.2, 1.9), 0.7), 1)
        arm = round(1.9 * speed, 3)
        wrist = round(arm * self.dice.draw(0.3, 0.9), 3)
        effort = round(self.dice.draw(9, 52), 1)
        first = self.dice.choose(JOINTS[:3])
        pace = 'Fast motion' if speed >= 0.6 else 'Slow motion' if speed < 0.12 else 'Motion'
        text = (
            f'{pace} for {seconds:.1f} s: the tool moved {format_amount(path)} m with at most '
            f'{format_amount(speed)} m/s; {first} and {self.dice.choose(JOINTS[3:])}, peak speed '
            f'{arm:.2f} rad/s ({first}), peak effort {effort:.1f} N m'
        )
        self.add(
            'motion', 'motion', start, seconds, text, peak_at=round(seconds * 0.45, 3), task=task,
            topic='/joint_states', frame='base_link',
            figures={
                'path_length': (path, 'm'), 'tool_speed': (speed, 'm/s'),
                'arm_speed': (arm, 'rad/s'), 'wrist_speed': (wrist, 'rad/s'),
                'peak_effort': (effort, 'N·m'), 'duration': (seconds, 's'),
            },
        )  # fmt: skip
        return seconds

    def add_scene(self, start: datetime, seen: str = '') -> None:
        """Add a change that the camera saw, in the words of the scene detector."""
        if not seen:
            colour = self.dice.choose(('red', 'blue', 'green', 'grey', 'white', 'black', 'brown'))
            seen = f'a {colour} object ' + self.dice.choose(
                ('appeared at the left', 'appeared in the centre', 'appeared at the right',
                 'disappeared from the left', 'disappeared from the right')
            )  # fmt: skip
        share = round(self.dice.draw(0.004, 0.09), 4)
        wide, high = round(self.dice.draw(18, 150)), round(self.dice.draw(18, 120))
        self.add(
            'scene', 'appeared' if 'disappeared' not in seen else 'disappeared', start, 0.0,
            f'The camera (camera_color_optical_frame) sees: {seen} ({wide} x {high} pixels; '
            f'{share * 100:.2f} % of the picture changed)',
            topic='/camera/image_raw', frame='camera_color_optical_frame',
            figures={'changed_share': (share, '1')},
        )  # fmt: skip

    def add_state(self, start: datetime, what: str) -> None:
        """Add a temperature of a joint, or a weight that the scale told."""
        day = f'{start.astimezone(ZONE):%m%d}'
        if what == 'temperature':
            joint = round(self.dice.draw(0.5, 6.5))
            warm = self.dice.draw_apart(what, day, 29.0, 58.5, 1)
            self.add(
                'state', what, start, 0.0, f'Temperature of joint {joint}: {warm} degC',
                topic='/joint_temperatures', frame='base_link',
                figures={'temperature': (warm, 'degC')},
            )  # fmt: skip
            return
        part = self.dice.choose(tuple(PARTS))
        mass = self.dice.draw_apart('mass', day, *PARTS[part], 3)
        self.add(
            'state', 'weight', start, 0.0, f'The scale weighs the {part}: {mass} kg',
            topic='/scale', frame='scale', figures={'mass': (mass, 'kg')},
        )  # fmt: skip

    def add_task(self, start: datetime, what: str) -> float:
        """Add a task and the contact in it, and return how long it lasted."""
        dice, day = self.dice, f'{start.astimezone(ZONE):%m%d}'
        fails = dice.draw(0, 1) < 0.1 and f'{start.astimezone(ZONE):%m-%d}' not in story.CLEAN_DAYS
        outcome = 'failure' if fails else 'success'
        seconds = dice.draw_apart('task', day, *{
            'peg_insertion': (6.2, 48.0), 'screwing': (4.1, 16.0), 'palletizing': (8.3, 34.0),
            'door_opening': (7.0, 58.0),
        }[what], 1)  # fmt: skip
        figures = {'duration': (seconds, 's')}
        force = 0.0
        if what == 'peg_insertion':
            self._housings += 1
            force = dice.draw_apart('insertion', day, 5.2, 27.5, 2)
            figures['peak_force'] = (force, 'N')
            done = (
                f'failed after {seconds} s: it jammed at'
                if fails
                else f'succeeded in {seconds} s with at most'
            )
            text = f'Peg insertion into housing {self._housings} {done} {force} N'
        elif what == 'screwing':
            self._screws += 1
            torque = dice.draw_apart('torque', day, *((0.4, 0.95) if fails else (1.02, 2.48)), 3)
            figures['torque'] = (torque, 'N·m')
            done = 'was cross-threaded at' if fails else 'was tightened to'
            text = f'Screw {self._screws} {done} {torque} N m after {seconds} s'
        elif what == 'palletizing':
            self._boxes += 1
            mass = dice.draw_apart('box', day, 0.62, 4.55, 3)
            figures['mass'] = (mass, 'kg')
            done = 'found no room on' if fails else 'was put on'
            text = f'Box {self._boxes} of {mass} kg {done} the pallet after {seconds} s'
        else:
            force = dice.draw_apart('handle', day, 7.5, 26.0, 2)
            angle = dice.draw_apart('angle', day, *((0.1, 0.5) if fails else (0.8, 1.75)), 3)
            figures |= {'peak_force': (force, 'N'), 'angle': (angle, 'rad')}
            done = 'got stuck at' if fails else 'was opened by'
            text = f'The cabinet door {done} {angle} rad in {seconds} s with at most {force} N'
        self.add('task', what, start, seconds, text, topic='/task', frame='tool0', task=what,
                 outcome=outcome, figures=figures)  # fmt: skip
        if what != 'palletizing' and dice.draw(0, 1) < 0.5:
            lasting = round(min(dice.draw(0.4, 3.4), seconds - 3.0), 2)
            peak = dice.draw_apart('peak', day, 1.4, min(force, 13.0) if force else 9.0, 2)
            contact = dice.choose(('push', 'slide'), (0.6, 0.4))
            at = start + timedelta(seconds=round(dice.draw(1.2, seconds - lasting - 0.8), 1))
            self.add_contact(contact, at, '/wrist_wrench', peak, lasting, '-z', what)
        return seconds

    def add_touch(self, start: datetime) -> float:
        """Add one to three contacts that people caused, and return how long they lasted."""
        dice, day = self.dice, f'{start.astimezone(ZONE):%m%d}'
        count, passed = int(dice.choose('123', (0.7, 0.2, 0.1))), 0.0
        for _ in range(count):
            what = dice.choose(('push', 'tap', 'slide', 'hold'), (0.6, 0.16, 0.12, 0.12))
            high, short, long = {
                'push': (26.0, 0.35, 4.2), 'tap': (9.0, 0.08, 0.29), 'slide': (11.0, 0.8, 5.5),
                'hold': (9.0, 2.4, 24.0),
            }[what]  # fmt: skip
            peak = dice.draw_apart('peak', day, 1.3, high, 2)
            seconds = dice.draw_apart('contact', day, short, long, 2)
            direction = dice.choose(('+x', '-x', '+y', '-y', '+z', '-z'))
            topic = dice.choose(('/wrench', '/wrist_wrench'), (0.7, 0.3))
            at = start + timedelta(seconds=passed)
            self.add_contact(what, at, topic, peak, seconds, direction)
            passed += seconds + round(dice.draw(4, 18), 1)
        return passed

    def fill(self, shift: Shift) -> None:
        """Draw what happens in a session beside the story."""
        dice = self.dice
        now = shift.start + timedelta(seconds=round(dice.draw(90, 300)))
        others = ('peg_insertion', 'screwing', 'palletizing')
        while now < shift.end - timedelta(seconds=240):
            free = self.find_free(now, 140)
            if free > now:
                now = free + timedelta(seconds=round(dice.draw(1, 40)))
                continue
            doing = dice.choose(('task', 'touch', 'motion', 'scene', 'temperature', 'weight'),
                                (0.48, 0.17, 0.12, 0.08, 0.09, 0.06))  # fmt: skip
            if doing == 'task':
                what = shift.task if dice.draw(0, 1) < 0.75 else dice.choose(others)
                spent = self.add_motion(now, what) + 1.5
                spent += self.add_task(now + timedelta(seconds=round(spent, 1)), what)
            elif doing == 'touch':
                spent = self.add_touch(now)
            elif doing == 'motion':
                spent = self.add_motion(now)
            else:
                spent = 1.0
                if doing == 'scene':
                    self.add_scene(now)
                else:
                    self.add_state(now, doing)
            now += timedelta(seconds=round(spent + dice.draw(150, 860)))

    def tell_story(self) -> None:
        """Add what is certain."""
        for fault, when, seconds, figure, where in story.FAULTS:
            self.add_fault(fault, read_time(when), seconds, figure, where)
        for what, when, topic, peak, seconds, direction in story.CONTACTS:
            self.add_contact(what, read_time(when), topic, peak, seconds, direction)
        for when, seen in story.SCENES:
            self.add_scene(read_time(when), seen)
        for what, when, seconds, one, other in story.TASKS:
            figures = {'duration': (seconds, 's')}
            if what == 'tool_change':
                text = f'Tool change from {one} to {other} in {seconds:g} s'
            else:
                figures['residual'] = (float(one), 'm')
                text = f'Hand-eye calibration with a residual of {one:.4f} m after {seconds:g} s'
            self.add('task', what, read_time(when), seconds, text, topic='/task', frame='tool0',
                     task=what, outcome='success', figures=figures)  # fmt: skip
        for kind, name, when, actor, text in story.STATEMENTS:
            self.add(kind, 'said', read_time(when), 0.0, text, name=name, actor=actor)

    def add_fault(
        self, what: str, start: datetime, seconds: float, figure: float | None, where: str
    ) -> None:
        """Add a fault, in the words of the log and the state topics."""
        figures = {'duration': (seconds, 's')}
        topic = '/robot_state'
        if what == 'grip_loss':
            text, topic = f'Grip lost for {seconds:g} s, the part was gone', '/gripper_state'
        elif what == 'over_temperature' and figure is not None:
            figures['temperature'] = (figure, 'degC')
            text = f'Over-temperature of {where}: {figure} degC, for {seconds:g} s'
            topic = '/diagnostics'
        elif what == 'stall' and figure is not None:
            figures['peak_effort'] = (figure, 'N·m')
            text = f'Stall of {where} for {seconds:g} s at {figure} N m'
        elif what == 'connection_lost':
            text, topic = f'Connection to {where} lost for {seconds:g} s', '/diagnostics'
        else:
            name = what.replace('_', ' ').capitalize()
            text = f'{name} for {seconds:g} s: {where}'
        self.add('fault', what, start, seconds, text, topic=topic, frame='base_link',
                 figures=figures)  # fmt: skip

    def close(self, shift: Shift) -> None:
        """Add the session itself, with what was counted in it."""
        inside = [item for item in self.items.values() if item.session == shift.key]
        tasks = [item for item in inside if item.kind == 'task']
        failed = sum(item.outcome == 'failure' for item in tasks)
        faults = sum(item.kind == 'fault' for item in inside)
        seconds = (shift.end - shift.start).total_seconds()
        text = (
            f'{shift.name.capitalize()} shift of {ROBOT} in {shift.env}, mostly '
            f'{shift.task.replace("_", " ")}: {len(tasks)} tasks, {failed} failed, {faults} faults'
        )
        self.add(
            'session', shift.name, shift.start, seconds, text,
            name=shift.key.removeprefix('session-'), task=shift.task,
            outcome='failure' if failed > len(tasks) / 3 else 'success',
            figures={'duration': (seconds, 's')},
        )  # fmt: skip


def make_month(seed: int = SEED) -> list[Item]:
    """Return the items of the month in the order in which they began."""
    month = Month(seed)
    month.tell_story()
    for shift in month.shifts:
        month.fill(shift)
    for shift in month.shifts:
        month.close(shift)
    return sorted(month.items.values(), key=lambda item: (read_stamp(item.start), item.key))


@cache
def read_stamp(words: str) -> datetime:
    """Return an ISO 8601 time as UTC, in which times can be compared and subtracted."""
    return datetime.fromisoformat(words).astimezone(timezone.utc)


def list_known(items: Iterable[Item], now: str) -> list[Item]:
    """Return what had ended at a moment: nothing else is stored when a question is asked then."""
    moment = read_stamp(now)
    return [item for item in items if read_stamp(item.end) <= moment]


def main() -> None:
    """Write the month as JSON lines, in the order in which the items became known."""
    for item in sorted(make_month(), key=lambda item: (read_stamp(item.end), item.key)):
        sys.stdout.write(json.dumps(asdict(item), ensure_ascii=False) + '\n')


if __name__ == '__main__':
    main()
