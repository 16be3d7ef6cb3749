"""
What a skill has learned, as JSON that outlives its trials: they and situations by their ids.

The learner counts trials and situations from 0 in the order in which it was told of them; which
number a trial has changes when another one is forgotten.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from robot_memory.embedding.quantisation import Vector
from robot_memory.skills.model import Skill
from robot_memory.storage.tables.trials import Row


def write_state(skill: Skill, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the state of a skill that was told of some trials, by ids."""
    state = skill.get_state()
    history, situations = state['history'], _name_situations(skill, rows)
    ids = [row.memory_id for row in rows]

    def name(values: Sequence[Sequence[float]]) -> list[list[float]]:
        return [[ids[int(place)], value] for place, value in values]

    return {
        **state,
        'history': {
            'changes': name_changes(skill, rows),
            'followed': [
                [
                    place,
                    [
                        [memory_id, weight, situations.get(phrasing - 1)]
                        for memory_id, weight, phrasing in zip(
                            ids[skill.changes[place].begin :], weights, phrasings, strict=True
                        )
                    ],
                    name(outdated),
                ]
                for place, weights, phrasings, outdated in history['followed']
            ],
            'weights': name(history['weights']),
            'settled': name(history['settled']),
            'outdated': name(history['outdated']),
        },
    }


def name_changes(skill: Skill, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the changes that a skill has noticed, by the ids of situations and trials."""
    situations = _name_situations(skill, rows)
    end = rows[-1].memory_id + 1 if rows else 0
    ids = [*(row.memory_id for row in rows), end]
    return [
        {
            'situation': situations.get(change.situation),
            'begin': ids[change.begin],
            'back': None if change.back is None else ids[change.back],
        }
        for change in skill.changes
    ]


def _name_situations(skill: Skill, rows: Sequence[Row]) -> dict[int, int]:
    """Return the ids of situations by the numbers that the learner gave them."""
    places = skill.trials.points.situations
    return {int(place): row.situation for place, row in zip(places, rows, strict=True)}


def read_state(
    state: Mapping[str, Any], rows: Sequence[Row], vectors: Mapping[int, Vector]
) -> dict[str, Any]:
    """Return a state for a skill that is told of some trials; what is not there is left out."""
    ids = [row.memory_id for row in rows]
    places = {memory_id: place for place, memory_id in enumerate(ids)}
    phrasings = _number_situations(rows, vectors)
    history = state['history']
    kept = [place for place, one in enumerate(history['changes']) if one['situation'] in phrasings]

    def number(values: Sequence[Sequence[Any]]) -> list[list[float]]:
        return [[places[one], value] for one, value in values if one in places]

    changes = [
        {
            'situation': phrasings[one['situation']],
            'begin': bisect_left(ids, one['begin']),
            'back': None if one['back'] is None else bisect_left(ids, one['back']),
        }
        for one in (history['changes'][place] for place in kept)
    ]
    followed = []
    for place, weights, outdated in history['followed']:
        if place in kept:
            left = [one for one in weights if one[0] in places]
            followed.append(
                [
                    kept.index(place),
                    [weight for _, weight, _ in left],
                    [phrasings.get(situation, -1) + 1 for _, _, situation in left],
                    number(outdated),
                ]
            )
    return {
        **state,
        'history': {
            'changes': changes,
            'followed': followed,
            'weights': number(history.get('weights', ())),
            'settled': number(history['settled']),
            'outdated': number(history['outdated']),
        },
    }


def _number_situations(
    rows: Sequence[Row], vectors: Mapping[int, Vector]
) -> dict[int | None, int]:
    """Return the numbers that a learner gives situations, by their ids; -1 of no words."""
    numbers: dict[bytes, int] = {}
    found: dict[int | None, int] = {None: -1}
    for row in rows:
        vector = vectors.get(row.situation)
        if vector is None:
            found[row.situation] = -1
        else:
            found[row.situation] = numbers.setdefault(vector.tobytes(), len(numbers))
    return found
