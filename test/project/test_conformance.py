"""The official conformance suite against the live server, where `make conformance` set it up."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from narrowing import require
from robots import Robot


@pytest.fixture(scope='module')
def conformance() -> ModuleType:
    path = Path(__file__).parents[2] / 'scripts/conformance.py'
    spec = importlib.util.spec_from_file_location('conformance', path)
    module = importlib.util.module_from_spec(require(spec))
    sys.modules['conformance'] = module
    require(require(spec).loader).exec_module(module)
    return module


def test_the_official_suite_finds_nothing_but_what_is_known_to_be_missing(
    conformance: ModuleType, robot: Robot
) -> None:
    if not conformance.is_set_up():
        pytest.skip('Node and the suites are not here: `make conformance` sets them up')
    with conformance.serve(robot.memory, tools='all') as url:
        assert conformance.check_conformance(url) == []
