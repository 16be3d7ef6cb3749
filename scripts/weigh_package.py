"""Print what a package would cost as a dependency: MB that it installs, seconds of its import."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 5
HAVE = ('numpy', 'numpy.libs', 'bin', '__pycache__')
"""What this package installs in any case, or is no part of another one."""

IMPORT = """
import sys, time
for module in sys.argv[2:]:
    __import__(module)
start = time.perf_counter()
__import__(sys.argv[1])
print(time.perf_counter() - start)
"""


def main() -> None:
    """Install the package into a temporary folder, weigh it and import it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('package', help='its name at the registry')
    parser.add_argument('module', help='what is imported of it, after numpy')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        install = [sys.executable, '-m', 'pip', 'install', '--quiet', '--target', folder]
        subprocess.run([*install, options.package], check=True)
        size = sum(measure_bytes(path) for path in Path(folder).iterdir() if path.name not in HAVE)
        environment = {**os.environ, 'PYTHONPATH': folder, 'PYTHONDONTWRITEBYTECODE': ''}
        command = [sys.executable, '-c', IMPORT, options.module, 'numpy']
        runs = [
            subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
            for _ in range(RUNS)
        ]
        seconds = min(float(run.stdout) for run in runs)
    name = f'import {options.module}'
    print(f'{options.package}: {size / 1e6:.1f} MB, {name} {seconds * 1e3:.0f} ms')


def measure_bytes(path: Path) -> int:
    """Return the bytes of a file or of all in a folder, without compiled Python."""
    files = [path] if path.is_file() else [part for part in path.rglob('*') if part.is_file()]
    return sum(part.stat().st_size for part in files if part.suffix != '.pyc')


if __name__ == '__main__':
    main()
