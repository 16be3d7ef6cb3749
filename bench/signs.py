"""
Print what a first look at the signs of vectors finds of the true ten nearest, of real texts.

The texts are sentences of the documentation here and of the docstrings of this Python's packages,
embedded by the models that are installed; every sixtieth is a question. It takes some minutes,
most of them for embedding; the vectors are kept in bench/.cache.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import random
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_memory.core.progress import make_progress_bar
from robot_memory.embedding import BackgroundEmbedder, Embedder, quantisation
from robot_memory.embedding.loader import open_second_model
from robot_memory.embedding.packaged import SECOND_MODEL, is_fetched
from robot_memory.search.signs import Signs, count_differing

ROOT = Path(__file__).resolve().parents[1]
SIZE, BATCH, EVERY = 24_000, 128, 60
BAR = 0.84
"""Cosine from which on texts of one duplicate key are duplicates."""
MANY = (256, 512, 1024, 2048, 4096)
"""Vectors that are compared of all: recall takes 4,096, or one of 64 where that is more."""


def main() -> None:
    """Embed, count, and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--size', type=int, default=SIZE, help='texts')
    size = parser.parse_args().size
    texts = list_texts(size)
    first = BackgroundEmbedder()
    first.start()
    models = [embedder] if (embedder := first.wait()) is not None else []
    models += [open_second_model('')] if is_fetched(SECOND_MODEL) else []
    found = {}
    for model in models:
        kept, asked = embed(model, texts)
        found[model.name] = {**count_found(kept, asked), 'repeats': count_repeats(kept)}
    print(json.dumps(found))


def list_texts(size: int) -> list[str]:
    """Return so many sentences, the same on one machine, in no order."""
    found: set[str] = set()
    for text in _read_texts():
        for sentence in re.split(r'(?<=[.!?。])\s+|\n\n|\n- |\|', text):
            whole = ' '.join(sentence.split())
            if 25 <= len(whole) <= 220 and sum(map(str.isalpha, whole)) > 0.6 * len(whole):
                found.add(whole)
        if len(found) > 1.2 * size:
            break
    return random.Random(1).sample(sorted(found), min(size, len(found)))


def _read_texts() -> Iterator[str]:
    for path in sorted((*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md'))):
        yield path.read_text(encoding='utf-8')
    folders = [ROOT / 'robot_memory', *map(Path, map(sysconfig.get_path, ('stdlib', 'purelib')))]
    for path in (path for folder in folders for path in sorted(folder.rglob('*.py'))):
        try:
            tree = ast.parse(path.read_text(encoding='utf-8'))
        except (SyntaxError, UnicodeDecodeError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield ast.get_docstring(node) or ''


def embed(model: Embedder, texts: list[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the vectors of the texts that are kept, and of those that ask."""
    name = re.sub(r'\W', '-', model.name)
    cached = ROOT / f'bench/.cache/signs-{name}-{len(texts)}.npz'
    if not cached.exists():
        cached.parent.mkdir(exist_ok=True)
        kept = [text for number, text in enumerate(texts) if number % EVERY]
        starts = make_progress_bar(range(0, len(kept), BATCH), model.name, unit='batch')
        made = [model.embed_passages(kept[start : start + BATCH]) for start in starts]
        asked = np.stack([model.embed_query(text) for text in texts[::EVERY]])
        np.savez(cached, kept=np.concatenate(made), asked=asked)
    found = np.load(cached)
    return found['kept'], found['asked']


def count_found(
    kept: NDArray[np.float32], asked: NDArray[np.float32]
) -> dict[str, dict[str, Any]]:
    """Return, by size and by how many are compared, the share of the true ten nearest."""
    found: dict[str, dict[str, Any]] = {}
    for size in (len(kept) // 4, len(kept) // 2, len(kept)):
        planes, _ = quantisation.split(kept[:size])
        signs = Signs(planes)
        for many in MANY:
            shares = []
            for query in asked:
                nearest = np.argsort(-(kept[:size] @ query))[:10]
                plane, _ = quantisation.split(query)
                likely = signs.find_likely(plane, size, many)
                shares.append(np.isin(nearest, likely).mean())
            found.setdefault(str(size), {})[str(many)] = round(float(np.mean(shares)), 4)
    return found


def count_repeats(kept: NDArray[np.float32]) -> dict[str, dict[str, float]]:
    """
    Return the share of vectors found again at the bar of duplicates, by how many are compared.

    A question lies there in a random direction from a vector, or straight toward another one.
    """
    chance = np.random.default_rng(3)
    planes, _ = quantisation.split(kept)
    signs = Signs(planes)
    words = signs.take(np.arange(len(kept)))
    shares: dict[str, dict[str, float]] = {}
    for direction in ('random', 'toward another'):
        places = []
        for place in chance.choice(len(kept), min(300, len(kept)), replace=False).tolist():
            vector = kept[place]
            away = chance.normal(size=len(vector))
            if direction != 'random':
                away = kept[chance.integers(len(kept))]
            away = away - (away @ vector) * vector
            query = BAR * vector + math.sqrt(1 - BAR**2) * away / np.linalg.norm(away)
            plane, _ = quantisation.split(query.astype(np.float32))
            differ = count_differing(words, signs.pack(plane))
            places.append(int((differ < differ[place]).sum()))
        shares[direction] = {
            str(many): round(float(np.mean(np.array(places) < many)), 4) for many in MANY
        }
    return shares


if __name__ == '__main__':
    main()
