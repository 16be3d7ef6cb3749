"""Keep what lives came to, a line each, so that a run that was broken off goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from lives.draw import PHRASES
from lives.environment import CACHE
from lives.live import Life, Lived


class Results:
    """Hold the lives that were told of by the same phrases."""

    def __init__(self, phrases: str) -> None:
        """Read what is there."""
        told = (PHRASES / f'{phrases}.json').read_bytes()
        digest = hashlib.sha256(told).hexdigest()[:12]
        self.path = CACHE / f'lives-{phrases}-{digest}.jsonl'
        self.known: dict[str, Lived] = {}
        if self.path.exists():
            for line in self.path.read_text('utf-8').splitlines():
                # The last line of a run that was killed may be half a line.
                if line.endswith('}'):
                    kept = json.loads(line)
                    self.known[kept.pop('life')] = kept

    def add(self, life: Life, lived: Lived) -> None:
        """Write a life."""
        self.known[life.key] = lived
        with self.path.open('a', encoding='utf-8') as file:
            file.write(f'{json.dumps({"life": life.key, **lived})}\n')

    def pick(self, tables: Iterable[Path]) -> dict[str, Lived]:
        """Return the lives on some tables: what was lived in other physics is not of them."""
        names = {path.parent.name for path in tables}
        return {key: lived for key, lived in self.known.items() if key.split('|')[0] in names}

    def forget(self, arms: Iterable[str]) -> None:
        """Forget the lives of some arms: their code has changed."""
        gone = {*arms}
        self.known = {
            key: lived for key, lived in self.known.items() if key.split('|')[3] not in gone
        }
        lines = [json.dumps({'life': key, **lived}) for key, lived in self.known.items()]
        self.path.write_text(''.join(f'{line}\n' for line in lines), 'utf-8')
