"""
Train what tells that a new statement says the same as an older one, and print what it reaches.

`train_restated.py` has the cross-encoder and the words tell of each pair of bench/planner's
corrections in which one restates, replaces, or does neither, and fits the weights of
robot_memory/text/restated.toml. It prints, for each hand, what is found by weights that were
fitted without it: the share of restated pairs (`found`) and of all others (`false`), at the bar of
`learn`. `--hold` names hands that are not fitted with; `--write` writes the weights of the others.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.pipeline import Pipeline, make_pipeline  # type: ignore[import-untyped]
from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

from robot_memory.api import RobotMemory
from robot_memory.core.proportions import compute_wilson
from robot_memory.embedding.cross_encoder import has_cross_encoder, load_cross_encoder
from robot_memory.lifecycle.verdicts import RESTATED
from robot_memory.text import restated
from robot_memory.text.relations import may_restate
from robot_memory.text.statement_reader import has_han
from robot_memory.text.statements import drop_request

FOLDER = Path(__file__).parents[1] / 'planner'
WRITTEN = Path(__file__).parents[2] / 'robot_memory' / 'text' / 'restated.toml'
UNREAD = ('nineteenth', 'twentieth')
"""Hands that report what is reached: nothing is fitted with them."""
SURELY = 10.0
"""Log odds that any bar lets through: what is left apart are pairs that none can tell."""
STRENGTH = 0.3
"""The inverse of how much weights are held small."""


class Pair(NamedTuple):
    """Hold an older and a newer statement, whether it restates the older, and who wrote it."""

    old: str
    new: str
    restates: bool
    hand: str


def list_pairs() -> Iterator[Pair]:
    """Give the pairs of one script of which it is said whether one restates the other."""
    for file in sorted(FOLDER.glob('corrections_*.jsonl')):
        hand = file.stem.removeprefix('corrections_')
        if hand in UNREAD or hand.startswith('retractions'):
            continue
        for row in map(json.loads, file.read_text(encoding='utf-8').splitlines()):
            # The half of the eighteenth hand that reports was read by no one, either.
            if 'restates' not in row or (hand == 'eighteenth' and row['half'] == 'report'):
                continue
            if has_han(row['old']) == has_han(row['new']):
                yield Pair(row['old'], row['new'], row['restates'], hand)


def gather(pairs: list[Pair]) -> tuple[NDArray[np.float64], list[str]]:
    """Return what tells of pairs, shape (pairs, names), and the names."""
    rows = []
    with (
        tempfile.TemporaryDirectory() as folder,
        RobotMemory(str(Path(folder) / 'memory.db')) as robot,
    ):
        robot.wait_for_model(60)
        embedder = robot.memory.embedder.get_if_loaded()
        encoder = load_cross_encoder(embedder) if has_cross_encoder(embedder) else None
        if embedder is None or encoder is None:
            raise SystemExit('the default model is not on this machine; make build fetches it')
        for pair in pairs:
            one, other = embedder.embed_passages([pair.old, pair.new])
            similarity = embedder.calibration.to_similarity(float(one @ other))
            told = drop_request(pair.new)
            scores = encoder.score(pair.old, told)
            rows.append(restated.list_evidence(pair.old, told, similarity, *scores))
    return np.array([list(row.values()) for row in rows]), list(rows[0])


def make_model() -> Pipeline:
    """Return what is fitted: a logistic regression of evidence of like spread."""
    return make_pipeline(StandardScaler(), LogisticRegression(C=STRENGTH, max_iter=5000))


def report(pairs: list[Pair], evidence: NDArray[np.float64], may: NDArray[np.bool_]) -> None:
    """Print what each hand's pairs come to by the weights of the others."""
    hands = np.array([pair.hand for pair in pairs])
    labels = np.array([pair.restates for pair in pairs])
    taken = np.zeros(len(pairs), bool)
    for hand in sorted(set(hands)):
        rest = (hands != hand) & may
        model = make_model().fit(evidence[rest], labels[rest])
        those = hands == hand
        taken[those] = (model.decision_function(evidence[those]) >= RESTATED) & may[those]
        print(
            f'{hand:<14}', _share(taken[those & labels]), _share(taken[those & ~labels], 'false')
        )
    print(f'{"all":<14}', _share(taken[labels]), _share(taken[~labels], 'false'))


def _share(taken: NDArray[np.bool_], what: str = 'found') -> str:
    low, high = compute_wilson(int(taken.sum()), len(taken))
    return f'{what} {taken.mean():.3f} [{low:.2f}, {high:.2f}] of {len(taken)}'


def write(model: Pipeline, names: list[str]) -> None:
    """Write the weights, for evidence as it is."""
    scaler, fitted = model
    weights = fitted.coef_[0] / scaler.scale_
    bias = fitted.intercept_[0] - weights @ scaler.mean_
    lines = [
        '# Written by bench/pairs/train_restated.py: what evidence adds to the log odds.',
        '[weights]',
        f'bias = {bias:.4f}',
        *(f'{name} = {weight:.4f}' for name, weight in zip(names, weights, strict=True)),
    ]
    WRITTEN.write_text('\n'.join(lines) + '\n', encoding='utf-8')


def main() -> None:
    """Gather, fit, print, and write where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hold', nargs='*', default=[], metavar='HAND')
    parser.add_argument('--write', action='store_true')
    options = parser.parse_args()
    pairs = [pair for pair in list_pairs() if pair.hand not in options.hold]
    evidence, names = gather(pairs)
    may = np.array([may_restate(pair.old, pair.new, SURELY) for pair in pairs])
    report(pairs, evidence, may)
    if options.write:
        labels = np.array([pair.restates for pair in pairs])
        write(make_model().fit(evidence[may], labels[may]), names)


if __name__ == '__main__':
    main()
