"""Keep what came of a trial of a skill."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.amounts import read_values
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Json, Stamp, arg, collection_arg
from robot_memory.core.json_text import format_value
from robot_memory.core.trials import WORLDS, Trial
from robot_memory.lifecycle import trials
from robot_memory.lifecycle.trials import Report
from robot_memory.memory import Memory
from robot_memory.tool import tool

SUCCESSES = {'true': True, 'false': False, 'unknown': None}


@dataclass(frozen=True)
class RecordOutcomeRequest:
    """Request of record_outcome."""

    skill: str = arg('Skill, e.g. strike.', min_length=1, max_length=64)
    situation: str = arg(
        'What was found: brass disc on the oiled tray.', default='', max_length=1000
    )
    numbers: Json | None = arg(
        'The same in figures: {"distance": "0.4 m"}.',
        default=None,
        shape='object',
        typed='figures',
    )
    params: Json | None = arg(
        'Chosen: {"speed": "1.3 m/s", "gripper": "soft"}.',
        default=None,
        shape='object',
        typed='figures',
    )
    results: Json | None = arg(
        'Measured: {"slide": "41 cm"}.', default=None, shape='object', typed='figures'
    )
    success: str = arg('Whether it succeeded.', default='unknown', choices=tuple(SUCCESSES))
    memory_ids: tuple[int, ...] = arg('Memories that were used.', default=(), minimum=1)
    collection: str = collection_arg('Collection.')
    session_id: str | None = arg('Session id.', default=None)
    stamp: Stamp | None = arg('Time of the trial.', default=None)
    world: str = arg('Default: as the session, else real.', default='', choices=('', *WORLDS))
    robot: str = arg('Robot id.', default='', max_length=128)
    key: str = arg(
        'Name of this trial: repeats answer as the first call.',
        default='',
        max_length=128,
    )


@dataclass(frozen=True)
class RecordOutcomeResponse:
    """Response of record_outcome."""

    memory_id: int = arg('Id of the memory of the trial.')
    trials: int = arg('Trials of the skill so far.')
    surprise: float | None = arg(
        'Standard deviations by which a result lay from what was predicted; of the result '
        'farthest off. None where nothing could be predicted.'
    )
    changed: bool = arg(
        'True if predictions for situations like this have begun to fail: the world has changed.'
    )
    change_id: int | None = arg(
        'Id of the memory that tells of the change.', default=None, omitted=True
    )
    repeated: bool | None = arg(
        'True if the key is that of a stored trial: nothing was stored now.',
        default=None,
        omitted=True,
    )


@tool(planner=True)
def record_outcome(memory: Memory, request: RecordOutcomeRequest) -> RecordOutcomeResponse:
    """
    Store what came of one try of a skill; suggest learns from it.

    Call it after each try, failed ones too, with what was measured.

    A trial is never a duplicate. Figures have a unit: "0.4 m" or {"value": 0.4, "unit": "m"};
    results measured tell more than success.
    """
    skill = request.skill.strip()
    if not skill:
        raise InvalidArgument(f'skill is empty ({format_value(request.skill)}); name the skill')
    numbers = read_values('numbers', request.numbers, may_be_names=True)
    params = read_values('params', request.params, may_be_names=True)
    results = read_values('results', request.results, may_be_names=False)
    twice = sorted(numbers.keys() & params.keys())
    if twice:
        raise InvalidArgument(
            f'{", ".join(twice)} is in numbers and in params: numbers are found there, params are '
            'chosen; give one of them another name'
        )
    success = SUCCESSES[request.success]
    if success is None and not results:
        raise InvalidArgument(
            'success is unknown and results are empty: a trial needs one of them, e.g. success: '
            'false or results: {"slide": "41 cm"}'
        )
    trial = Trial(
        skill,
        ' '.join(request.situation.split()),
        numbers,
        params,
        results,
        success,
        robot=request.robot or None,
        memory_ids=tuple(dict.fromkeys(request.memory_ids)),
        key=request.key or None,
    )
    recorded = trials.record(
        memory,
        Report(trial, request.collection, request.session_id, request.stamp, world=request.world),
    )
    return RecordOutcomeResponse(
        recorded.memory_id,
        recorded.trials,
        recorded.surprise,
        recorded.change is not None,
        recorded.change,
        recorded.repeated or None,
    )
