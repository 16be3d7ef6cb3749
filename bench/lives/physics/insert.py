"""A peg is pushed down and searches a hole along a spiral: one rollout in MuJoCo."""

from __future__ import annotations

import math

import mujoco
import numpy as np

FIXTURES = {'A': (-3.5, 2.5), 'B': (3.0, 3.0), 'C': (2.0, -3.5), 'D': (-2.0, -2.0)}
"""How far the hole of a fixture is from where the drawing has it, x and y in mm."""
BATCHES = {'old': (2.0, 1.5), 'new': (-1.5, -1.0)}
"""How far the tip of a peg is from where the gripper takes it to be, x and y in mm."""
OFFSETS = (-6.0, -4.0, -2.0, 0.0, 2.0, 4.0, 6.0)
"""Where the search may start, along x as along y, in mm from the drawing."""
STARTS = 14
GIVES_UP = 6.0
"""After so many seconds of search."""
LIMIT = 0.8
"""Seconds of search within which an insertion is a success."""
SWAPS = [[f'A/{batch}', f'C/{batch}'] for batch in BATCHES]
"""Situations that change places where the world changes."""
_STEP = 0.002
_RADIUS = 0.005
_CLEARANCE = 0.0008
_PITCH = 0.0014
_PACE = 0.015
_PUSH = 8.0
_DEEP = -0.003
_MODEL = """
<mujoco>
  <option timestep="{step}" integrator="implicitfast" cone="elliptic"/>
  <worldbody>
    <body name="fixture" pos="{x} {y} 0">
      <geom name="east" type="box" size=".02 .05 .01" pos="{far} 0 -.01"/>
      <geom name="west" type="box" size=".02 .05 .01" pos="-{far} 0 -.01"/>
      <geom name="north" type="box" size="{half} .02 .01" pos="0 {far} -.01"/>
      <geom name="south" type="box" size="{half} .02 .01" pos="0 -{far} -.01"/>
    </body>
    <body name="peg" pos="0 0 .0151">
      <joint name="x" type="slide" axis="1 0 0" damping="20"/>
      <joint name="y" type="slide" axis="0 1 0" damping="20"/>
      <joint name="z" type="slide" axis="0 0 1" damping="5"/>
      <geom name="peg" type="cylinder" size="{radius} .015" mass=".3" friction="{friction}"
            priority="1"/>
    </body>
  </worldbody>
  <actuator>
    <position name="x" joint="x" kp="4000" forcerange="-25 25"/>
    <position name="y" joint="y" kp="4000" forcerange="-25 25"/>
    <motor name="push" joint="z" ctrlrange="-50 0"/>
  </actuator>
</mujoco>
"""


def list_situations() -> list[str]:
    """Return the hidden situations by name."""
    return [f'{fixture}/{batch}' for fixture in FIXTURES for batch in BATCHES]


def draw_disturbance(situation: int, start: int) -> dict[str, float]:
    """Return what differs from start to start: how the part is seated, how rough the peg is."""
    chance = np.random.default_rng([29, situation, start])
    return {
        'x': float(chance.normal(0, 1.3)),
        'y': float(chance.normal(0, 1.3)),
        'friction': float(chance.uniform(0.15, 0.35)),
    }


def insert(
    situation: str, offset: tuple[float, float], disturbance: dict[str, float]
) -> tuple[float, float]:
    """Return the seconds of search, GIVES_UP where it failed, and the largest force in N."""
    fixture, batch = (
        table[name] for table, name in zip((FIXTURES, BATCHES), situation.split('/'), strict=True)
    )
    values = {
        'step': _STEP,
        'x': (fixture[0] + batch[0] + disturbance['x']) / 1000,
        'y': (fixture[1] + batch[1] + disturbance['y']) / 1000,
        'half': _RADIUS + _CLEARANCE,
        'far': _RADIUS + _CLEARANCE + 0.02,
        'radius': _RADIUS,
        'friction': disturbance['friction'],
    }
    model = mujoco.MjModel.from_xml_string(_MODEL.format(**values))
    return _search(model, mujoco.MjData(model), offset[0] / 1000, offset[1] / 1000)


def _search(model: mujoco.MjModel, data: mujoco.MjData, x: float, y: float) -> tuple[float, float]:
    """Lead the peg along a spiral at an even pace until it has sunk in or the time is over."""
    data.qpos[:2] = x, y
    data.ctrl[2] = -_PUSH
    peak = 0.0
    for step in range(int(GIVES_UP / _STEP)):
        walked = step * _STEP * _PACE
        angle = math.sqrt(4 * math.pi * walked / _PITCH)
        reach = _PITCH * angle / (2 * math.pi)
        data.ctrl[0] = x + reach * math.cos(angle)
        data.ctrl[1] = y + reach * math.sin(angle)
        mujoco.mj_step(model, data)
        peak = max(peak, math.hypot(data.actuator_force[0], data.actuator_force[1]))
        if data.qpos[2] < _DEEP:
            return step * _STEP, peak
    return GIVES_UP, peak
