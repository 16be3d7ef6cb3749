"""
Measure what the contact detector finds, misses and tells wrongly, against known truth.

Recorded pushes, where ROBOT_MEMORY_DATA has them: their truth is found without the detector and
not in time order, against the commonest force of the whole recording. Generated streams: each
scene of contact_streams.py with seeds of its own.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from contact_streams import SCENES, START_NS, Floats, Push, Stream
from rosbags.rosbag2 import Reader

from robot_memory.detectors import ContactDetector, ContactSettings, Event, WrenchReading
from robot_memory.ingest.messages import TYPES, decode, read_frame, read_stamp

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get('ROBOT_MEMORY_DATA', ROOT.parent / 'shared/data'))
BAGS = ('cmu_exp5_15', 'cmu_30_63', 'cmu_push_wood_patch')
TUNING_SEEDS, REPORT_SEEDS = range(30), range(5000, 5020)
ABOVE = 1.2
PEAK_ERROR, DIRECTION_ERROR = 0.05, 15.0
WRONG_PEAK, WRONG_DIRECTION = 0.25, 30.0
MODE_N, PUSH_N, SILENCE_S = 0.1, 1.0, 1.0


@dataclass
class Score:
    """Count what became of pushes and events; peak errors in parts, directions in degrees."""

    due: int = 0
    found: int = 0
    right: int = 0
    false: int = 0
    wrong: int = 0
    split: int = 0
    onsets: list[float] = field(default_factory=list)
    peak_errors: list[float] = field(default_factory=list)
    direction_errors: list[float] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the figures; errors as their 95th percentile, `bias` as the median of peaks."""
        return {
            'due': self.due,
            'found': self.found,
            'right': round(self.right / self.due, 4) if self.due else None,
            'false': self.false,
            'wrong': self.wrong,
            'split': self.split,
            'onset_n': round(max(self.onsets), 3) if self.onsets else None,
            'peak_p95': _get_percentile(np.abs(self.peak_errors), 95),
            'peak_bias': _get_percentile(self.peak_errors, 50),
            'direction_p95': _get_percentile(self.direction_errors, 95),
        }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--tuning', action='store_true', help='the seeds for development')
    parser.add_argument('--seeds', type=int, help='how many seeds, at most')
    parser.add_argument('--set', action='append', default=[], help='a setting: onset_n=1.0')
    parser.add_argument('--scene', action='append', help='scenes, by their functions')
    parser.add_argument('--list', action='store_true', help='print every fault')
    given = parser.parse_args()
    changes: dict[str, Any] = {
        name: float(value) for name, _, value in (one.partition('=') for one in given.set)
    }
    seeds = (TUNING_SEEDS if given.tuning else REPORT_SEEDS)[: given.seeds]
    found: dict[str, Score] = {}
    for stream in list_streams(seeds, given.scene):
        score = found.setdefault(stream.name, Score())
        for fault in judge(stream, ContactSettings(**changes), score):
            if given.list:
                print(f'{stream.name}: {fault}', file=sys.stderr)
    print(json.dumps({name: score.to_json() for name, score in found.items()}))


def list_streams(seeds: Sequence[int], scenes: Sequence[str] | None) -> Iterator[Stream]:
    """Yield the recorded streams that are there, and those generated from the seeds."""
    for bag in BAGS:
        if scenes and bag not in scenes:
            continue
        if not (DATA / 'bags' / bag).exists():
            print(f'{bag} is left out: it is not in {DATA / "bags"}', file=sys.stderr)
            continue
        yield read_recording(bag)
    for number, scene in enumerate(SCENES):
        if not scenes or scene.__name__ in scenes:
            for seed in seeds:
                yield scene(np.random.default_rng([seed, number]))


def read_recording(bag: str) -> Stream:
    """Return the wrenches of a bag, and its pushes as they are found with all of it in view."""
    readings = []
    with Reader(DATA / 'bags' / bag) as reader:
        for connection, _, raw in reader.messages():
            if connection.topic == '/wrench':
                message = decode(raw, connection.msgtype)
                read = TYPES[connection.msgtype].read
                readings.append(read(message, read_stamp(raw), read_frame(message)))
    seconds = np.array([(one.stamp_ns - START_NS) / 1e9 for one in readings])
    force = np.array([one.force for one in readings])
    pushes = []
    commonest = _find_mode(force)
    for part in np.split(np.arange(len(force)), np.flatnonzero(np.diff(seconds) > SILENCE_S) + 1):
        resting = np.linalg.norm(force[part] - commonest, axis=1) < MODE_N
        rest = np.median(force[part][resting], axis=0) if resting.sum() >= 10 else commonest
        over = force[part] - rest
        size = np.linalg.norm(over, axis=1)
        if size.max() >= PUSH_N:
            first, last = part[np.flatnonzero(size >= PUSH_N)[[0, -1]]]
            peak = over[size.argmax()] / size.max()
            times = float(seconds[first]), float(seconds[last])
            pushes.append(Push(*times, float(size.max()), tuple(map(float, peak))))
    return Stream(bag, readings, pushes)


def _find_mode(force: Floats) -> Floats:
    """Return the force round which most readings of a recording lie: that of no contact."""
    sample = force[:: max(1, len(force) // 2000)]
    near = [int((np.linalg.norm(sample - one, axis=1) < MODE_N).sum()) for one in sample]
    centre = sample[int(np.argmax(near))]
    mode: Floats = np.median(sample[np.linalg.norm(sample - centre, axis=1) < MODE_N], axis=0)
    return mode


def judge(stream: Stream, settings: ContactSettings, score: Score) -> list[str]:
    """Run the detector over a stream, add to the score, and return the faults in words."""
    events, onsets = _detect(stream.readings, settings)
    faults = []
    taken: set[int] = set()
    for push in stream.pushes:
        onset = onsets[max(0, int(np.searchsorted(onsets[:, 0], push.start)) - 1), 1]
        score.onsets.append(float(onset))
        is_due = bool(push.peak >= ABOVE * onset)
        score.due += is_due
        matches = [event for event in events if _overlap(event, push)]
        taken.update(event.stamp_ns for event in matches)
        if not matches:
            if is_due:
                faults.append(f'missed {_describe(push)}, onset {onset:.2f} N')
            continue
        event = max(matches, key=lambda one: float(one.data['peak_force']))
        score.split += len(matches) - 1
        peak, angle = _compare(event, push)
        if abs(peak) > WRONG_PEAK or angle > WRONG_DIRECTION:
            score.wrong += 1
            faults.append(f'wrong {_describe(push)}: {event.description}')
        if is_due:
            score.found += 1
            is_right = bool(abs(peak) <= PEAK_ERROR and angle <= DIRECTION_ERROR)
            score.right += is_right
            score.peak_errors.append(peak)
            score.direction_errors.append(angle)
            if not is_right:
                faults.append(f'{100 * peak:+.1f} %, {angle:.0f} degrees: {_describe(push)}')
        for other in matches:
            if other is not event and _compare(other, push)[1] > 90:
                score.wrong += 1
                faults.append(f'opposite of {_describe(push)}: {other.description}')
    for event in events:
        if event.stamp_ns not in taken:
            score.false += 1
            at = (event.stamp_ns - START_NS) / 1e9
            faults.append(f'false at {at:.2f} s: {event.description}')
    return faults


def _detect(
    readings: Sequence[WrenchReading], settings: ContactSettings
) -> tuple[list[Event], Floats]:
    """Return the events, and the onset in N by seconds."""
    detector = ContactDetector(settings)
    events, onsets = [], []
    for number, reading in enumerate(readings):
        events += detector.feed(reading)
        if number % 10 == 0:
            onsets.append(((reading.stamp_ns - START_NS) / 1e9, detector.onset_n))
    return events + detector.finish(), np.array(onsets)


def _overlap(event: Event, push: Push) -> bool:
    start, end = ((stamp - START_NS) / 1e9 for stamp in (event.stamp_ns, event.end_ns))
    return start <= push.end and end >= push.start


def _compare(event: Event, push: Push) -> tuple[float, float]:
    """Return the error of the peak, in parts, and of the direction, in degrees."""
    direction = event.data.get('peak_direction', event.data['direction'])
    cosine = sum(a * b for a, b in zip(direction, push.direction, strict=True))
    angle = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
    return float(event.data['peak_force']) / push.peak - 1, angle


def _describe(push: Push) -> str:
    return f'push of {push.peak:.2f} N at {push.start:.2f} to {push.end:.2f} s'


def _get_percentile(values: Any, share: float) -> float | None:
    return round(float(np.percentile(values, share)), 4) if len(values) else None


if __name__ == '__main__':
    main()
