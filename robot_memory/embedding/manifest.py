"""What a model directory says of itself, and what was measured of it."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value
from robot_memory.embedding.calibration import LANGUAGES, LEAST_SPREAD, SCALE_VERSION, Calibration
from robot_memory.embedding.export_files import (
    EXPORT_FILES,
    POOLING_FILE,
    POOLINGS,
    read_export,
    read_object,
)
from robot_memory.embedding.locate import MODEL_FILE, TOKENIZER_FILE

MANIFEST_FILE = 'robot_memory.json'
CALIBRATION_FILE = 'calibration.json'
WEIGHT_FILES = ('model.onnx.data', 'model.onnx_data')
IDENTITY_FILES = (MODEL_FILE, *WEIGHT_FILES, TOKENIZER_FILE, MANIFEST_FILE, *EXPORT_FILES)
LEAST_TOKENS = 8
MAX_NUMBER = 8192
"""The largest dimension and the longest text that a manifest may name."""


@dataclass(frozen=True)
class Manifest:
    """
    Hold the keys of `robot_memory.json`, all of them optional; docs/models.md describes them.

    `pieces` names a piece file to tokenize with in place of tokenizer.json, `center` an array of
    shape (2, 2, dimension) to take away from unit vectors: that of queries and that of passages,
    each for alphabets and for Chinese. `sha256` stands for the bytes of the model. Of `pooling`
    and `output`, '' is what the graph's outputs suggest; of the numbers, 0 is any. `languages`
    and `turns` say what a second model is asked about. `same_as` names models, with their bytes,
    whose vectors differ from its own by rounding alone: a store that has them keeps them.
    """

    name: str = ''
    query_prefix: str = ''
    passage_prefix: str = ''
    pooling: str = ''
    output: str = ''
    dimension: int = 0
    max_tokens: int = 0
    pieces: str = ''
    center: str = ''
    sha256: str = ''
    languages: tuple[str, ...] = LANGUAGES
    turns: bool = True
    same_as: tuple[str, ...] = ()
    calibration: Calibration | None = None


def read_manifest(directory: Path) -> Manifest:
    """
    Read `robot_memory.json`, completed from the files of sentence-transformers.

    Raise InvalidArgument where a value cannot be right, or the files contradict each other.
    """
    path = directory / MANIFEST_FILE
    found = read_object(path)
    unknown = sorted(set(found) - set(Manifest.__dataclass_fields__))
    if unknown:
        keys = ', '.join(Manifest.__dataclass_fields__)
        raise InvalidArgument(f'{path} has the unknown key {unknown[0]!r}; accepted: {keys}')
    for key, value in found.items():
        _check(path, key, value)
    if found.get('calibration') is not None:
        found['calibration'] = _calibration(path, found['calibration'])
    if 'languages' in found:
        found['languages'] = tuple(dict.fromkeys(found['languages']))
    found['same_as'] = tuple(found.get('same_as', ()))
    exported = read_export(directory)
    pooling, of_export = found.get('pooling'), exported.pop('pooling', None)
    if pooling and of_export and pooling != of_export:
        raise InvalidArgument(
            f'{path}: pooling is {pooling!r}, but {directory / POOLING_FILE} says {of_export!r}'
        )
    said = {
        key: value
        for key, value in found.items()
        if value or key == 'turns' or key.endswith('_prefix')
    }
    return Manifest(**{**exported, **said})


def _check(path: Path, key: str, value: Any) -> None:
    if key in ('dimension', 'max_tokens'):
        least = LEAST_TOKENS if key == 'max_tokens' else 1
        if type(value) is not int or (value and not least <= value <= MAX_NUMBER):
            raise InvalidArgument(
                f'{path}: {key} must be an integer from {least} to {MAX_NUMBER}, or 0, '
                f'not {format_value(value)}'
            )
    elif key == 'languages':
        if not isinstance(value, list) or not value or set(map(str, value)) - set(LANGUAGES):
            raise InvalidArgument(
                f'{path}: languages must be a list of {" and ".join(LANGUAGES)}, '
                f'not {format_value(value)}'
            )
    elif key == 'same_as':
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise InvalidArgument(
                f'{path}: same_as must be a list of names such as "some-model@1a2b3c4d", '
                f'not {format_value(value)}'
            )
    elif key == 'turns':
        if not isinstance(value, bool):
            raise InvalidArgument(
                f'{path}: turns must be true or false, not {format_value(value)}'
            )
    elif key != 'calibration' and not isinstance(value, str):
        raise InvalidArgument(f'{path}: {key} must be a string, not {format_value(value)}')
    elif key == 'pooling' and value not in ('', *POOLINGS):
        raise InvalidArgument(
            f'{path}: pooling must be one of {", ".join(POOLINGS)}, not {format_value(value)}'
        )


def _calibration(path: Path, value: Any) -> Calibration:
    keys = {'unrelated', 'paraphrase', 'stray'}
    valid = isinstance(value, dict) and keys - {'stray'} <= set(value) <= keys
    numbers = [float(n) for n in value.values() if type(n) in (int, float)] if valid else []
    if not valid or len(numbers) < len(value) or not all(-1 <= n <= 1 for n in numbers):
        raise InvalidArgument(
            f'{path}: calibration must be an object of cosines from -1 to 1, unrelated, '
            f'paraphrase and perhaps stray, not {format_value(value)}'
        )
    scale = Calibration(**value)
    if scale.paraphrase - max(scale.unrelated, value.get('stray', -1)) < LEAST_SPREAD:
        raise InvalidArgument(
            f'{path}: calibration.paraphrase must be at least {LEAST_SPREAD} above the other '
            f'cosines, not {format_value(value)}'
        )
    return scale


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write `robot_memory.json`, without the keys that say nothing."""
    default = asdict(Manifest())
    said = {key: value for key, value in asdict(manifest).items() if value != default[key]}
    text = json.dumps(said, indent=2) + '\n'
    (directory / MANIFEST_FILE).write_text(text, encoding='utf-8')


@dataclass(frozen=True)
class Measurement:
    """Hold the identity and the calibration of the files of a directory."""

    name: str
    calibration: Calibration


def read_measurement(directory: Path, manifest: Manifest) -> Measurement | None:
    """Read what an earlier load measured, unless the files have changed since."""
    try:
        kept = json.loads((directory / CALIBRATION_FILE).read_text(encoding='utf-8'))
        if manifest.sha256:
            same = kept['name'] == identify(directory, manifest)
        else:
            same = kept['files'] == _stat_files(directory)
        if not same or kept['scale'] != SCALE_VERSION:
            return None
        return Measurement(kept['name'], Calibration(**kept['calibration']))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_measurement(directory: Path, measured: Measurement) -> None:
    """Keep a measurement beside the model; a directory that is read-only keeps none."""
    kept = {**asdict(measured), 'files': _stat_files(directory), 'scale': SCALE_VERSION}
    path = directory / f'{CALIBRATION_FILE}.{os.getpid()}'
    try:
        path.write_text(json.dumps(kept, indent=2) + '\n', encoding='utf-8')
        path.replace(directory / CALIBRATION_FILE)
    except OSError:
        path.unlink(missing_ok=True)


def identify(directory: Path, manifest: Manifest) -> str:
    """Name a model and the bytes that decide its vectors, e.g. 'some-model@1a2b3c4d'."""
    digest = manifest.sha256 or hash_files(directory, IDENTITY_FILES)
    return f'{manifest.name or directory.resolve().name}@{digest[:8]}'


def hash_files(directory: Path, names: tuple[str, ...]) -> str:
    """Give the SHA-256 of those of the files that exist, one after the other."""
    digest = hashlib.sha256()
    for name in names:
        if (directory / name).exists():
            with (directory / name).open('rb') as file:
                while block := file.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()


def _stat_files(directory: Path) -> dict[str, list[int]]:
    states = {name: directory / name for name in IDENTITY_FILES}
    return {
        name: [path.stat().st_size, path.stat().st_mtime_ns]
        for name, path in states.items()
        if path.exists()
    }
