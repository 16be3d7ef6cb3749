"""Rules judged against tasks by their words alone."""

from __future__ import annotations

from typing import Any

from robot_memory.text.rules.conditions import judge, list_persons
from robot_memory.text.rules.reader import read_rule
from robot_memory.text.rules.scene import read_scene


def judge_rule(rule: str, task: str, situation: dict[str, Any] | None = None) -> bool | None:
    """Return whether a rule applies to a task; None: it is unknown."""
    condition = read_rule(rule)
    scene = read_scene(task, situation, list_persons(condition))
    return judge(condition, scene, lambda word: None).truth
