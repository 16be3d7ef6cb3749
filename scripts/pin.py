"""
Write requirements/*.txt: every package that set-up installs, at one exact version.

`python scripts/pin.py PYTHON3.10 PYTHON3.11` resolves setup.cfg and requirements/*.in anew on a
Python 3.10 and on a newer one, and marks what differs. Each file holds what the ones before it
have not pinned yet; that of an environment of its own holds all.
"""

from __future__ import annotations

import argparse
import configparser
import json
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
FILES = ('runtime', 'dev', 'ros')
ALONE = ('lives',)
# Newer releases ask for numpy 2, and the messages of a sourced ROS Jazzy or Kilted are compiled
# against numpy 1.26.
HELD = ('ml_dtypes==0.5.4',)
# In the standard library from this Python on, and refused by pip there.
NOT_FROM = {'backports.zstd': '3.14'}
HEAD = '# Written by scripts/pin.py: change setup.cfg or requirements/*.in, then run that.\n'


def read_requirements(name: str) -> list[str]:
    """Read the requirements that one file is resolved from."""
    if name == 'runtime':
        config = configparser.ConfigParser()
        config.read(ROOT / 'setup.cfg')
        extras = config['options.extras_require']
        text = '\n'.join((config['options']['install_requires'], extras['plot'], extras['mcap']))
        return [*filter(None, text.splitlines()), *HELD]
    lines = (ROOT / 'requirements' / f'{name}.in').read_text().splitlines()
    return [line for line in lines if line and not line.startswith('#')]


def resolve(python: str, requirements: list[str], *options: str) -> dict[str, str]:
    """Ask pip which versions it would install."""
    command = [python, '-m', 'pip', 'install', '--quiet', '--dry-run', '--ignore-installed']
    command += options
    answer = subprocess.run(
        [*command, '--report', '-', *requirements], check=True, stdout=subprocess.PIPE
    )
    found = (item['metadata'] for item in json.loads(answer.stdout)['install'])
    return {re.sub(r'[-_]+', '-', item['name'].lower()): item['version'] for item in found}


def format_pins(package: str, old: str | None, new: str | None) -> list[str]:
    """Pin one package, with an environment marker where the two Pythons differ."""
    if package in NOT_FROM:
        return [f'{package}=={new} ; python_version < "{NOT_FROM[package]}"']
    if old == new:
        return [f'{package}=={new}']
    pins = [f'{package}=={old} ; python_version < "3.11"'] if old else []
    return pins + ([f'{package}=={new} ; python_version >= "3.11"'] if new else [])


def write_pins(name: str, found: list[dict[str, str]], before: set[str]) -> None:
    """Write the pins of one file, without those that files before it have."""
    new = sorted({*found[0], *found[1]} - before)
    text = [pin for n in new for pin in format_pins(n, found[0].get(n), found[1].get(n))]
    (ROOT / 'requirements' / f'{name}.txt').write_text(HEAD + '\n'.join(text) + '\n')


def main() -> None:
    """Resolve the files in order, each on top of the pins of those before."""
    version = ElementTree.parse(ROOT / 'package.xml').getroot().findtext('version')
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--version', action='version', version=f'%(prog)s {version}')
    parser.add_argument(
        'old', metavar='PYTHON3.10', help='Python 3.10 interpreter to resolve with'
    )
    parser.add_argument('new', metavar='PYTHON3.11', help='interpreter of a newer Python')
    given = parser.parse_args()
    pythons = [given.old, given.new]
    pinned: list[dict[str, str]] = [{}, {}]
    for name in FILES:
        found = [
            resolve(python, [*read_requirements(name), *(f'{n}=={v}' for n, v in before.items())])
            for python, before in zip(pythons, pinned, strict=True)
        ]
        write_pins(name, found, {*pinned[0], *pinned[1]})
        pinned = found
    for name in ALONE:
        wanted = read_requirements(name)
        alone = [resolve(python, wanted, '--only-binary', ':all:') for python in pythons]
        write_pins(name, alone, set())


if __name__ == '__main__':
    main()
