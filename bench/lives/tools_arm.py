"""The memory of skills as a robot uses it: the tools `suggest` and `record_outcome` on a store."""

from __future__ import annotations

import math

from lives.arms import Arm, Params, Setting
from lives.draw import Trial
from lives.worlds import Outcome, Want

from robot_memory.api import RobotMemory


class SuggestByTools(Arm):
    """Ask before each trial and report after it; scales are learned in the background."""

    def __init__(self, setting: Setting) -> None:
        """Open the store."""
        super().__init__(setting)
        self._memory = RobotMemory(self.folder / 'memory.db')
        self._memory.wait_for_model(60)

    def choose(self, trial: Trial) -> Params:
        """Return what is suggested; any of the allowed params where nothing is known."""
        default = self.world.name_params(self.choose_at_random(trial))
        units = self.world.params
        allowed = {
            name: [f'{value!r} {unit}' for value in sorted({*column.tolist()})]
            for (name, unit), column in zip(units.items(), self.world.choices.T, strict=True)
        }
        found = self._memory.suggest(
            trial.skill,
            trial.words,
            numbers=_add_units(trial.numbers, trial),
            want=_describe(trial.want, trial),
            among=allowed,
            default=_add_units(default, trial),
            seed=trial.chance,
        )
        self.probability = found.probability
        return {name: one['value'] for name, one in found.params.items()}

    def learn(self, trial: Trial, params: Params, outcome: Outcome) -> None:
        """Report what came of it."""
        self._memory.record_outcome(
            trial.skill,
            trial.words,
            numbers=_add_units(trial.numbers, trial),
            params=_add_units(params, trial),
            results=_add_units(outcome.results, trial),
            success='true' if outcome.success else 'false',
            key=str(trial.number),
        )

    def close(self) -> None:
        """Close the store."""
        self._memory.close()


def _add_units(values: Params, trial: Trial) -> dict[str, str]:
    return {name: f'{value!r} {trial.units[name]}' for name, value in values.items()}


def _describe(want: Want, trial: Trial) -> dict[str, str]:
    """Return what is wanted as the tool takes it; a result that is only bounded begins at 0."""
    low = 0.0 if math.isinf(want.low) else want.low
    unit = trial.units[want.result]
    return {
        'result': want.result,
        'value': f'{(low + want.high) / 2!r} {unit}',
        'tolerance': f'{(want.high - low) / 2!r} {unit}',
    }
