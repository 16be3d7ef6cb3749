"""
Train what tells that a new statement says the same as an older one, and print what it reaches.

`train_restated.py` has the cross-encoder and the words tell of each pair of bench/planner's
corrections in which one restates, replaces, or does neither, and fits the weights of
robot_memory/text/restated.toml. It prints, for each hand, what is found by weights that were
fitted without it: the share of restated pairs (`found`) and of all others (`false`), at the bar of
`learn`, and of unrelated ones, since most of what a robot knows is another thing: each new
statement beside the likest old one of another pair of its hand. `--hold` names hands that are not
fitted with; `--write` writes the weights of the others.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.pipeline import Pipeline, make_pipeline  # type: ignore[import-untyped]
from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

from robot_memory.core.progress import make_progress_bar
from robot_memory.core.proportions import compute_wilson
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.embedding.cross_encoder import has_cross_encoder, load_cross_encoder
from robot_memory.embedding.onnx import OnnxEmbedder
from robot_memory.lifecycle.verdicts import RESTATED
from robot_memory.text import restated
from robot_memory.text.relations import may_restate
from robot_memory.text.statement_reader import has_han
from robot_memory.text.statements import drop_request

FOLDER = Path(__file__).parents[1] / 'planner'
WRITTEN = Path(__file__).parents[2] / 'robot_memory' / 'text' / 'restated.toml'
UNREAD = ('nineteenth', 'twentieth', 'twentyfirst')
"""Hands that report what is reached: nothing is fitted with them."""
SURELY = 10.0
"""Log odds that any bar lets through: what is left apart are pairs that none can tell."""
STRENGTH = 0.3
"""The inverse of how much weights are held small."""


class Pair(NamedTuple):
    """
    Hold an older and a newer statement, whether it restates the older, and who wrote it.

    Those that are not `related` are of two pairs.
    """

    old: str
    new: str
    restates: bool
    hand: str
    related: bool = True


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


def pair_unrelated(embedder: OnnxEmbedder, pairs: list[Pair]) -> Iterator[Pair]:
    """Give each new statement with the likest old one of its script and hand that is another's."""
    for hand in sorted({pair.hand for pair in pairs}):
        those = [pair for pair in pairs if pair.hand == hand]
        olds, news = (
            embedder.embed_passages([getattr(pair, side) for pair in those])
            for side in ('old', 'new')
        )
        cosines = news @ olds.T
        for row, pair in zip(cosines, those, strict=True):
            other = next(
                those[place].old
                for place in np.argsort(-row)
                if those[place].old != pair.old and has_han(those[place].old) == has_han(pair.new)
            )
            yield Pair(other, pair.new, restates=False, hand=hand, related=False)


def load_embedder() -> OnnxEmbedder:
    """Return the default model; exit where it is not there."""
    loader = BackgroundEmbedder()
    loader.start()
    embedder = loader.wait()
    if not has_cross_encoder(embedder):
        raise SystemExit('the default model is not on this machine; make build fetches it')
    return embedder


def gather(embedder: OnnxEmbedder, pairs: list[Pair]) -> tuple[NDArray[np.float64], list[str]]:
    """Return what tells of pairs, shape (pairs, names), and the names."""
    encoder = load_cross_encoder(embedder)
    if encoder is None:
        raise SystemExit('the cross-encoder cannot be loaded')
    rows = []
    for pair in make_progress_bar(pairs, 'pairs', unit='pair'):
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
    related = np.array([pair.related for pair in pairs])
    taken = np.zeros(len(pairs), bool)
    for hand in sorted(set(hands)):
        rest = (hands != hand) & may
        model = make_model().fit(evidence[rest], labels[rest])
        those = hands == hand
        taken[those] = (model.decision_function(evidence[those]) >= RESTATED) & may[those]
        _print(hand, taken[those], labels[those], related[those])
    _print('all', taken, labels, related)


def _print(
    hand: str, taken: NDArray[np.bool_], labels: NDArray[np.bool_], related: NDArray[np.bool_]
) -> None:
    shares = [
        _share(taken[labels], 'found'),
        _share(taken[related & ~labels], 'false'),
        _share(taken[~related], 'unrelated'),
    ]
    print(f'{hand:<12}', *shares)


def _share(taken: NDArray[np.bool_], what: str) -> str:
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
    embedder = load_embedder()
    pairs += pair_unrelated(embedder, pairs)
    evidence, names = gather(embedder, pairs)
    may = np.array([may_restate(pair.old, pair.new, SURELY) for pair in pairs])
    report(pairs, evidence, may)
    if options.write:
        labels = np.array([pair.restates for pair in pairs])
        write(make_model().fit(evidence[may], labels[may]), names)


if __name__ == '__main__':
    main()
