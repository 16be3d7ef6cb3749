"""The memory of skills: what it suggests is tried, and what came of it is recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
from lives.arms import Arm, Params, Setting
from lives.draw import Trial
from lives.phrase_vectors import PhraseVectors
from lives.worlds import Outcome

from robot_memory.skills import trials as of_skill
from robot_memory.skills.choice import Want, choose
from robot_memory.skills.model import Noticed, Skill

Row = tuple[str, dict[str, float], dict[str, float], dict[str, float], bool]


class Suggest(Arm):
    """Drive the learner itself, without a store: a file of the trials outlives the process."""

    explore = 0.0

    def __init__(self, setting: Setting) -> None:
        """Go on from the trials of the file, if it is there."""
        super().__init__(setting)
        self._vectors = PhraseVectors()
        self._file, self._state = self.folder / 'skill.jsonl', self.folder / 'skill.json'
        kept = [*self._read()]
        state = json.loads(self._state.read_text('utf-8')) if self._state.exists() else None
        self.skill = Skill.restore([one for one, _ in kept], [two for _, two in kept], state)

    def choose(self, trial: Trial) -> Params:
        """Return what is suggested; any of the allowed params where nothing is known."""
        choices = [self.world.name_params(place) for place in range(len(self.world.choices))]
        want = Want(trial.want.result, trial.want.low, trial.want.high)
        found = choose(
            self.skill,
            self._vectors.embed([trial.words])[0],
            want,
            choices,
            numbers=trial.numbers,
            explore=self.explore,
            seed=trial.chance,
            default=choices[self.choose_at_random(trial)],
        )
        self.probability = found.probability
        return {name: float(value) for name, value in found.params.items()}

    def learn(self, trial: Trial, params: Params, outcome: Outcome) -> None:
        """Record what came of it; scales are learned here and now."""
        row: Row = (
            trial.words,
            dict(trial.numbers),
            dict(params),
            dict(outcome.results),
            outcome.success,
        )
        noticed = self.skill.record(self._make_trial(*row))
        if self.skill.is_due:
            self.skill.learn()
        self.keep(row, noticed)

    def keep(self, row: Row, noticed: Noticed) -> None:
        """Write a trial to the file, and the state beside it."""
        with self._file.open('a', encoding='utf-8') as file:
            file.write(f'{json.dumps([*row, noticed.surprise])}\n')
        self._state.write_text(json.dumps(self.skill.get_state()), 'utf-8')

    def _read(self) -> Iterator[tuple[of_skill.Trial, float | None]]:
        if self._file.exists():
            for line in self._file.read_text('utf-8').splitlines():
                *row, surprise = json.loads(line)
                yield self._make_trial(*row), surprise

    def _make_trial(
        self,
        words: str,
        numbers: dict[str, float],
        params: dict[str, float],
        results: dict[str, float],
        success: bool,
    ) -> of_skill.Trial:
        vector = np.asarray(self._vectors.embed([words])[0])
        return of_skill.Trial(vector, numbers, params, results, success)
