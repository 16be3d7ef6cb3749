"""Weights, temperatures, days, hours and wetness under which a rule holds."""

from __future__ import annotations

import re

from robot_memory.text.rules.conditions import Condition
from robot_memory.text.rules.quantities import (
    DAY,
    find_clocks,
    find_days,
    find_temperatures,
    find_weights,
)
from robot_memory.text.rules.rule_clauses import Part, load_reader


def read_quantities(part: Part, clause: str, folded: str) -> list[tuple[str, Condition]]:
    """Return the weights, temperatures and hours under which a rule holds."""
    topic = load_reader()['topic']
    found: list[tuple[str, Condition]] = []
    for name, values in (
        ('payload_kg', find_weights(clause)),
        ('temperature_c', find_temperatures(clause)),
    ):
        for value, start, end in values:
            sign = _find_sign(clause[:start], clause[end:])
            if sign is None or (
                not part.is_condition and not part.opens and re.search(topic['own_limit'], folded)
            ):
                continue
            if name == 'payload_kg' and re.search(topic['own_limit'], clause[:start]):
                continue
            atom: Condition = {name: [sign, value]}
            if name == 'temperature_c' and _is_of_weather(clause[:start]):
                atom = {'unsure': atom}
            found.append((name, atom))
    found += [('hours', {'hours': span}) for span in _find_hours(clause)]
    if days := find_days(clause):
        found.append(('days', {'days': sorted(days)}))
    if re.search(r'(?:wet|damp|moist|slippery)\b|湿|积水|地.{0,2}有水', clause):
        floor = re.search(r'\b(?:floor|ground|ramp|road)\b|地面|地板|路面|地上', clause)
        wet: Condition = {'wet': 'floor' if floor else 'surface', 'words': 'wet'}
        is_asked = re.search(load_reader()['condition']['timed_en'], clause)
        is_told = re.search(topic['told_wet_en'], clause) and not is_asked
        found.append(('wet', {'unsure': wet} if is_told else wet))
    return found


def _is_of_weather(before: str) -> bool:
    """Say whether nothing that a task could name is so warm: 'when it is over 30 degrees'."""
    topic = load_reader()['topic']
    return bool(re.search(f'{topic["weather_en"]}|{topic["weather_zh"]}', before))


def _find_sign(before: str, after: str) -> str | None:
    """Return how what a rule is about compares to an amount: 'or more' has the amount itself."""
    topic = load_reader()['topic']
    for sign, name in (('>', 'heavier'), ('<', 'lighter')):
        if re.search(topic[f'{name}_or_as'], before) or re.search(topic[f'{name}_after'], after):
            return f'{sign}='
        if re.search(topic[name], before):
            return sign
    return None


def _find_hours(clause: str) -> list[list[float]]:
    topic, clocks = load_reader()['topic'], find_clocks(clause)
    if len(clocks) >= 2 and re.fullmatch(
        r'\s*(?:and|to|until|till|-|–|到|至|~)\s*', clause[clocks[0].end : clocks[1].start]
    ):
        start, end = clocks[0].hour % DAY, clocks[1].hour % DAY
        if end < start < 13 and re.search(topic['by_day'], clause):
            end += 12  # from half past eleven to one
        return [[start, end]]
    found = []
    for clock in clocks:
        before, after = clause[: clock.start], clause[clock.end :]
        if re.search(topic['gone_by'], before) or re.search(topic['hours_after_zh'], after):
            found.append([clock.hour % DAY, 6.0])
        elif re.search(topic['hours_before_en'], before) or re.search(
            topic['hours_before_zh'], after
        ):
            found.append([0.0 if clock.hour >= 12 else 22.0, clock.hour % DAY])
    if not found and re.search(r'\bat night\b|夜里|夜间|晚上', clause):
        found.append([22.0, 6.0])
    if not clocks and not found:
        found += [list(span) for name, span in topic['parts_of_day'].items() if name in clause]
    return found[:1]
