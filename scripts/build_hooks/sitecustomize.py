"""
Parse each interface file once in a build.

All of rosidl's generators parse the same IDL files, each in a process of its own and with the same
slow grammar, which took two fifths of a build. Python imports this module at the start of each
process that has this directory in PYTHONPATH, as `scripts/setup` arranges. What was parsed is in
the directory that ROBOT_MEMORY_PARSED_IDL names, by a hash of its text: one for each build.
"""

from __future__ import annotations

import hashlib
import importlib.abc
import importlib.machinery
import os
import pickle
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

PARSER = 'rosidl_parser.parser'


def keep_parsed(parse: Callable[..., Any], directory: Path) -> Callable[..., Any]:
    """Give a function that parses what `directory` does not hold yet, and keeps it there."""

    def parse_once(text: str, png_file: str | None = None) -> Any:
        if png_file:
            return parse(text, png_file=png_file)
        kept = directory / hashlib.sha256(text.encode()).hexdigest()
        if kept.exists():
            return pickle.loads(kept.read_bytes())
        content = parse(text)
        # Generators run side by side: a file appears whole or not at all.
        with tempfile.NamedTemporaryFile(dir=directory, delete=False) as file:
            pickle.dump(content, file)
        os.replace(file.name, kept)
        return content

    return parse_once


class _ParserFinder(importlib.abc.MetaPathFinder):
    """Finds the parser as it is found elsewhere, and has it keep what it parsed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != PARSER:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def run_and_wrap(module: ModuleType) -> None:
            run(module)
            module.parse_idl_string = keep_parsed(module.parse_idl_string, self._directory)  # type: ignore[attr-defined]

        spec.loader.exec_module = run_and_wrap  # type: ignore[method-assign]
        return spec


if directory := os.environ.get('ROBOT_MEMORY_PARSED_IDL'):
    sys.meta_path.insert(0, _ParserFinder(Path(directory)))
