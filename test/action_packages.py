"""An action of another package, built for the tests: no wheel of ROS 2 brings one."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).with_name('strike_interfaces')
SHARE = Path(__file__).parent
"""A folder with the definitions of the package."""


def build(folder: Path) -> Path:
    """Build the package strike_interfaces in a folder, and return where it is installed."""
    prefix = folder / 'install'
    numpy = folder / 'numpy'  # CMake refuses to name a folder of the environment's
    numpy.symlink_to(np.get_include())
    python = list_headers()
    steps: tuple[list[str | Path], ...] = (
        [
            'cmake',
            SOURCE,
            f'-DCMAKE_INSTALL_PREFIX={prefix}',
            f'-DCMAKE_INSTALL_RPATH={prefix}/lib',
            f'-DPython3_EXECUTABLE={sys.executable}',
            f'-DPython3_NumPy_INCLUDE_DIR={numpy}',
            '-DBUILD_TESTING=OFF',
            *python,
        ],
        ['cmake', '--build', '.', '--target', 'install'],
    )
    path = f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}'
    prefixes = os.environ['AMENT_PREFIX_PATH']
    environment = {**os.environ, 'PATH': path, 'CMAKE_PREFIX_PATH': prefixes}
    work = folder / 'build'
    work.mkdir()
    for step in steps:
        ran = subprocess.run(
            step, cwd=work, env=environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
    return prefix


def list_headers() -> list[str]:
    """Return how CMake finds Python's headers, where set-up had to unpack them."""
    headers = os.environ.get('CMAKE_INCLUDE_PATH', '').split(os.pathsep)[0]
    return [f'-DPython3_INCLUDE_DIR={headers}'] if headers.endswith('/python') else []


def list_variables(prefix: Path) -> dict[str, str]:
    """Return the environment in which the package is found, as sourcing it would make it."""
    modules = next(prefix.glob('lib/python*/site-packages'))
    found = {'AMENT_PREFIX_PATH': prefix, 'LD_LIBRARY_PATH': prefix / 'lib', 'PYTHONPATH': modules}
    return {
        name: os.pathsep.join(filter(None, (str(value), os.environ.get(name, ''))))
        for name, value in found.items()
    }


def load(prefix: Path) -> None:
    """
    Load the package's libraries into this process, and let it find the modules.

    A process that runs does not look again at LD_LIBRARY_PATH; libraries that are loaded are
    found by their names.
    """
    pending = sorted((prefix / 'lib').glob('lib*.so'))
    for library in pending:
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    sys.path.append(str(next(prefix.glob('lib/python*/site-packages'))))
