"""Say how well a skill goes."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.amounts import write_values
from robot_memory.core.fields import Json, arg, collection_arg
from robot_memory.core.trials import WORLDS
from robot_memory.memory import Memory
from robot_memory.retrieval import skill_reports
from robot_memory.retrieval.skill_reports import Stretch
from robot_memory.tool import tool


@dataclass(frozen=True)
class SkillReportRequest:
    """Request of skill_report."""

    skill: str = arg('Skill.', min_length=1, max_length=64)
    robot: str = arg('Trials of this robot or none.', default='', max_length=128)
    world: str = arg('World.', default='real', choices=WORLDS)
    collection: str = collection_arg('Collection.')


@dataclass(frozen=True)
class TrialsView:
    """What the trials of a skill, or of one situation, come to."""

    situation: str = arg('Situation in words; empty of the whole skill.')
    trials: int = arg('Number of trials.')
    tries: int = arg('Real trials of which success is known.')
    successes: int = arg('Those that succeeded.')
    success_low: float = arg('Lower end of the Wilson interval of success, 95 %.')
    success_high: float = arg('Upper end of it.')
    simulated_tries: int = arg('Simulated trials of which success is known.')
    simulated_successes: int = arg('Those that succeeded.')
    trend: str = arg('Later half against earlier: rising, falling, steady; unknown below 10.')
    best: Json = arg('Params of the successful trial that is likeliest to succeed again.')
    best_id: int | None = arg('Id of that trial.')


@dataclass(frozen=True)
class WorldChangeView:
    """A change of the world that results tell of."""

    situation: str = arg('Situation in words.')
    since: int = arg('Id of the first trial after it.')
    back: bool = arg('True if results are again what they were before an earlier change.')


@dataclass(frozen=True)
class SkillReportResponse:
    """Response of skill_report."""

    skill: str = arg('Name of the skill.')
    text: str = arg('Summary, as get_context tells it.')
    whole: TrialsView = arg('All trials.')
    situations: tuple[TrialsView, ...] = arg('By situation, the commonest first; at most 20.')
    situations_total: int = arg('Number of situations.')
    changes: tuple[WorldChangeView, ...] = arg('Changes of the world, oldest first.')


@tool(read_only=True, idempotent=True, planner=True)
def skill_report(memory: Memory, request: SkillReportRequest) -> SkillReportResponse:
    """
    Report how well a skill goes: success by situation, best params, trend, changes.

    Call it to see whether a skill gets better, and where it fails.
    """
    found = skill_reports.report_skill(
        memory, request.collection, request.skill.strip(), request.robot or None, request.world
    )
    return SkillReportResponse(
        found.skill,
        found.describe(),
        _view(found.whole),
        tuple(_view(one) for one in found.situations),
        found.situations_total,
        tuple(WorldChangeView(one.situation, one.since, one.back) for one in found.changes),
    )


def _view(one: Stretch) -> TrialsView:
    low, high = one.real.interval
    return TrialsView(
        one.situation,
        one.trials,
        one.real.tries,
        one.real.successes,
        round(low, 4),
        round(high, 4),
        one.simulated.tries,
        one.simulated.successes,
        one.trend,
        write_values(one.best),
        one.best_id,
    )
