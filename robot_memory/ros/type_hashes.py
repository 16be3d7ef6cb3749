"""
List the type hashes of the built interfaces: nodes of two hashes do not talk to each other.

`make interfaces` writes the list after the build; a test holds it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

PATH = 'docs/reference/type_hashes.txt'
_HEAD = '# Type hashes (REP-2016). Written by `make interfaces`; do not edit.'


def render(share: Path) -> str:
    """Return the list of the interfaces that are installed in a package's share folder."""
    lines = [_HEAD]
    for kind in ('msg', 'srv', 'action'):
        for file in sorted((share / kind).glob('*.json')):
            name = f'robot_memory/{kind}/{file.stem}'
            hashes = json.loads(file.read_text(encoding='utf-8'))['type_hashes']
            lines += [f'{name} {one["hash_string"]}' for one in hashes if one['type_name'] == name]
    return '\n'.join(lines) + '\n'


if __name__ == '__main__':
    from ament_index_python.packages import get_package_share_directory

    where = Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd()
    (where / PATH).write_text(
        render(Path(get_package_share_directory('robot_memory'))), encoding='utf-8'
    )
