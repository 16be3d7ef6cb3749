"""
Patterns that the build compiles once, and not each process anew.

To compile all of the tables takes .7 s of the processor, in which other threads wait. So
`python -m robot_memory.text.keep_patterns` writes what `re` makes of them into a file beside the
modules, as Python does with modules. The file is a cache: what it does not hold, or holds for
another interpreter, is compiled when it is needed (docs/decisions/packaging.md).
"""

from __future__ import annotations

import importlib
import marshal
import os
import re
import sys
import zlib
from array import array
from collections.abc import Iterable
from functools import cached_property
from hashlib import blake2b
from typing import Any

_SRE: Any = importlib.import_module('_sre')
_FOR = f'{sys.version} {_SRE.MAGIC} {_SRE.CODESIZE} {sys.byteorder}\n'.encode()
"""What code is made for: another release of the interpreter may read it in another way."""
PLACE = os.path.join(
    os.path.dirname(__file__), '__pycache__', f'patterns.{sys.implementation.cache_tag}.bin'
)


def match_any(words: Iterable[str]) -> str:
    """Return a pattern of any of some words, the longest first: no other begins what is found."""
    return '|'.join(map(re.escape, sorted(words, key=len, reverse=True)))


def _identify(pattern: str, flags: int) -> bytes:
    written = f'{flags} {pattern}'.encode('utf-8', 'surrogatepass')
    return blake2b(written, digest_size=16).digest()


class CompiledPatterns:
    """Hold compiled patterns, as a file has them."""

    def __init__(self, place: str = PLACE) -> None:
        """Take the path of the file, which is read as the first pattern is asked for."""
        self.place = place
        self.compiled = 0
        """How many patterns were compiled here, as the file does not hold them."""
        self.asked: set[tuple[str, int]] | None = None
        """Patterns that were asked for, with their flags, where these are recorded."""

    def compile(self, pattern: str, flags: int = 0) -> re.Pattern[str]:
        """Return a pattern, of the file or compiled now; raises `re.error` where it is none."""
        flags = int(flags)
        if self.asked is not None:
            self.asked.add((pattern, flags))
        kept = self._kept.get(_identify(pattern, flags))
        if kept is not None:
            try:
                return _restore(pattern, kept)
            except Exception:  # whatever is wrong with the file, the pattern itself is right
                self._kept.clear()
        self.compiled += 1
        return re.compile(pattern, flags)

    @cached_property
    def _kept(self) -> dict[bytes, bytes]:
        """Return code by what identifies a pattern; none where the file is not sound."""
        try:
            with open(self.place, 'rb') as file:
                if file.readline(len(_FOR)) != _FOR:
                    return {}
                digest, held = file.read(16), file.read()
        except OSError:
            return {}
        if digest != blake2b(held, digest_size=16).digest():
            return {}
        kept: dict[bytes, bytes] = marshal.loads(held)
        return kept


def _restore(pattern: str, kept: bytes) -> re.Pattern[str]:
    """Return a pattern from its code, which the interpreter checks."""
    flags, groups, names, written = marshal.loads(zlib.decompress(kept))
    code = array('I')
    code.frombytes(written)
    named: list[str | None] = [None] * (groups + 1)
    for name, group in names.items():
        named[group] = name
    found: re.Pattern[str] = _SRE.compile(
        pattern, flags, code.tolist(), groups, names, tuple(named)
    )
    return found


def _compile_code(pattern: str, flags: int) -> bytes:
    """Return what `_restore` makes a pattern of."""
    is_new = sys.version_info >= (3, 11)
    parser: Any = importlib.import_module('re._parser' if is_new else 'sre_parse')
    compiler: Any = importlib.import_module('re._compiler' if is_new else 'sre_compile')
    parsed = parser.parse(pattern, flags)
    code = array('I', compiler._code(parsed, flags))
    state = parsed.state
    held = (flags | state.flags, state.groups - 1, dict(state.groupdict), code.tobytes())
    return zlib.compress(marshal.dumps(held))


def write(patterns: Iterable[tuple[str, int]], place: str = PLACE) -> None:
    """Compile patterns with their flags into a file; what was there is replaced at once."""
    held = marshal.dumps({_identify(*one): _compile_code(*one) for one in sorted(patterns)})
    os.makedirs(os.path.dirname(place), exist_ok=True)
    unfinished = f'{place}.{os.getpid()}'
    with open(unfinished, 'wb') as file:
        file.write(_FOR + blake2b(held, digest_size=16).digest() + held)
    os.replace(unfinished, place)


COMPILED = CompiledPatterns()
compile_pattern = COMPILED.compile
