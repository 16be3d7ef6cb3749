"""Say what to try next in a skill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robot_memory.core.amounts import Amount, read_values, write_values
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Json, arg, collection_arg
from robot_memory.core.json_text import format_value
from robot_memory.core.suggestions import find_near
from robot_memory.core.trials import WORLDS
from robot_memory.memory import Memory
from robot_memory.retrieval import suggestions
from robot_memory.retrieval.limits import (
    Bounds,
    BoundView,
    UncheckedView,
    view_bounds,
    view_unchecked,
)
from robot_memory.retrieval.pages import name_pages, page_arg
from robot_memory.retrieval.skill_questions import Question
from robot_memory.retrieval.suggestions import Suggestion
from robot_memory.storage.tables import sessions, trials
from robot_memory.text.quoting import quote
from robot_memory.tool import tool

_OUTCOMES = {True: 'succeeded', False: 'failed', None: 'unknown'}


@dataclass(frozen=True)
class SuggestRequest:
    """Request of suggest."""

    skill: str = arg('Skill, e.g. strike.', min_length=1, max_length=64)
    situation: str = arg('What is found, in words.', default='', max_length=1000)
    numbers: Json | None = arg(
        'The same in figures.', default=None, shape='object', typed='figures'
    )
    want: Json | None = arg(
        '{"result": "slide", "value": "0.4 m", "tolerance": "8 cm"}, {"minimise": "force"} or '
        '{"maximise": "slide"}; default: success.',
        default=None,
        shape='object',
    )
    among: Json | None = arg(
        '{"speed": {"min": "0.5 m/s", "max": "2 m/s"}, "gripper": ["soft"]}; default: tried with '
        'success.',
        default=None,
        shape='object',
    )
    default: Json | None = arg(
        'Params if nothing is known.', default=None, shape='object', typed='figures'
    )
    explore: float = arg('Above 0 needs among.', default=0.0, minimum=0.0, maximum=1.0)
    seed: int = arg('Random seed.', default=0, minimum=0)
    robot: str = arg('Trials of this robot or none.', default='', max_length=128)
    world: str = arg('Where it will be done.', default='real', choices=WORLDS)
    collection: str = collection_arg('Collection.')
    session_id: str | None = arg('Session id.', default=None)


@dataclass(frozen=True)
class WitnessView:
    """A trial that a suggestion rests on."""

    memory_id: int = arg('Id of the trial.')
    weight: float = arg('How like it is, 0 to 1.')
    outcome: str = arg('succeeded, failed or unknown.')
    results: Json = arg('What was measured.', typed='figures')
    page: str | None = page_arg()


@dataclass(frozen=True)
class SuggestResponse:
    """Response of suggest."""

    params: Json = arg(
        'Params to try; empty where nothing is known or no value is allowed.', typed='figures'
    )
    probability: float | None = arg(
        'Probability of what is wanted, 0 to 1; of success by default.'
    )
    predicted: Json | None = arg('Predicted result.', typed='amounts')
    interval: Json | None = arg(
        'Least and greatest of the result in nine of ten trials.', typed='amounts'
    )
    effective_trials: float = arg('Number of trials like this that it rests on.')
    untried: bool = arg('True if no trial in a situation like this had these params.')
    nearest_id: int | None = arg('Id of the trial whose params are nearest.')
    nearest_params: Json | None = arg('Params of that trial.', typed='figures')
    evidence: tuple[WitnessView, ...] = arg('Trials that it rests on, the most alike first.')
    default_used: bool = arg('True if nothing is known and params are the default.')
    why: str = arg('Why, in one sentence; rules that nobody but the caller can keep come first.')
    bound_by: tuple[BoundView, ...] = arg('Limits of rules on the params.')
    unchecked: tuple[UncheckedView, ...] = arg(
        'Rules that apply or may apply and that no param can keep.'
    )


@tool(read_only=True, idempotent=True, planner=True)
def suggest(memory: Memory, request: SuggestRequest) -> SuggestResponse:
    """
    Suggest the params of the next try of a skill, from its trials and within rules.

    Call it before each try, and record_outcome after it.

    Rules of operators and planners are hard limits (bound_by), also those that only may apply: say
    in situation who is near and where it is. unchecked lists those that no param can keep. Where
    nothing is known the default is answered, with probability null.
    """
    robot = request.robot or None
    if request.session_id is not None:
        with memory.db.read() as connection:
            sessions.get(connection, request.session_id)
    skill = request.skill.strip()
    if not skill:
        raise InvalidArgument(f'skill is empty ({format_value(request.skill)}); name the skill')
    question = Question(
        skill,
        ' '.join(request.situation.split()),
        read_values('numbers', request.numbers, may_be_names=True),
        request.want or {},
        request.among,
        None
        if request.default is None
        else read_values('default', request.default, may_be_names=True),
        request.explore,
        request.seed,
        robot,
        request.world,
        request.collection,
    )
    found = suggestions.suggest(memory, question)
    return SuggestResponse(
        write_values(found.params),
        None if found.probability is None else round(found.probability, 4),
        _show(found.predicted),
        None if found.interval is None else [_show(one) for one in found.interval],
        round(found.trials, 2),
        bool(found.params) and not found.is_tried,
        None if found.nearest is None else found.nearest.memory_id,
        None if found.nearest is None else write_values(found.nearest.params),
        name_pages(memory.settings, (_view_witness(one) for one in found.evidence)),
        found.default_used,
        _explain(question, found, _name_skills(memory, question) if not found.trials else ''),
        view_bounds(found.bounds),
        view_unchecked(found.bounds),
    )


def _show(amount: Amount | None) -> Any:
    if amount is None:
        return None
    shown = float(f'{amount.shown:.6g}')
    return {'value': shown, 'unit': amount.unit} if amount.unit else shown


def _view_witness(one: suggestions.Witness) -> WitnessView:
    return WitnessView(
        one.row.memory_id,
        round(one.weight, 4),
        _OUTCOMES[one.row.success],
        write_values(one.row.results),
    )


def _name_skills(memory: Memory, question: Question) -> str:
    """Return which skills a collection has, where it has none of that name."""
    with memory.db.read() as connection:
        known = trials.list_skills(connection, question.collection)
    if question.skill in known:
        return ''
    near = find_near(question.skill, known) or known[:4]
    return f' (skills with trials: {", ".join(near) or "none"})'


def _name_limits(bounds: Bounds) -> str:
    """Return by which rules params are bound, those that only may apply with what decides it."""
    by = sorted(
        {one.rule for one in bounds.bounds}, key=lambda one: (not one.applies, one.memory_id)
    )
    said = [
        f'mem_{one.memory_id}' + ('' if one.applies else f' (may apply: {one.why})') for one in by
    ]
    return f', within the limits of {", ".join(dict.fromkeys(said))}' if said else ''


def _name_nearest(found: Suggestion) -> str:
    """Return by which params the nearest trial differs, where those suggested are untried."""
    if found.nearest is None or found.is_tried:
        return ''
    had = []
    for name, value in found.params.items():
        tried = found.nearest.params.get(name)
        if tried is None:
            had.append(f'no {name}')
        elif not suggestions.is_near(value, tried):
            gap = ''
            if isinstance(value, Amount) and isinstance(tried, Amount):
                off = abs(value.shown - Amount(tried.value, value.unit).shown)
                gap = f' ({f"{off:.3g} {value.unit}".rstrip()} off)'
            had.append(f'{name} {tried}{gap}')
    return f', untried: the nearest trial, mem_{found.nearest.memory_id}, had {", ".join(had)}'


def _explain(question: Question, found: Suggestion, skills: str) -> str:
    """Return why, in one sentence; `skills` are those that there are instead."""
    said = ', '.join(f'{name} {value}' for name, value in found.params.items())
    unchecked = ''
    if found.bounds.unchecked:
        rules = '; '.join(
            f'mem_{one.memory_id} {quote(one.content, 120)}' for one in found.bounds.unchecked[:3]
        )
        unchecked = f'No param keeps {rules}: check that yourself; '
    bound = _name_limits(found.bounds)
    if found.empty_by:
        why = f'no value of {", ".join(found.empty_by)} is allowed{bound}'
    elif found.default_used:
        why = f'{said} is the default: no trial of {question.skill} is like this{skills}{bound}'
    elif not found.params:
        why = f'no trial of {question.skill} is like this{skills}, and no default is given'
    else:
        how = f'about {round(found.trials, 2):.3g} trials like this'
        expects = f' predict {found.result} {found.predicted}' if found.predicted else ''
        chance = '' if found.probability is None else f', {found.probability:.0%} likely as wanted'
        drawn = ' (explored)' if found.explored else ''
        why = f'{said}{drawn}: {how}{expects}{chance}{_name_nearest(found)}{bound}'
    left = ''
    if found.left_out:
        left = f'; {found.left_out} trials of lower authority do not count'
    return f'{unchecked}{why}{left}.'
