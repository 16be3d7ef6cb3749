"""A striker hits a puck that slides to a stop: one rollout in MuJoCo. Needs mujoco and numpy."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np

MASSES = {'plastic': 1.0, 'brass': 3.0}
"""Of the pucks, in kg."""
SURFACES = {'oil': (0.02, 0.8), 'glass': (0.05, 0.4), 'wood': (0.10, 0.15), 'rubber': (0.16, 0.0)}
"""Sliding friction, and the drag of the film on the table in kg/s."""
SPEEDS = tuple(round(0.3 + 0.1 * place, 2) for place in range(17))
"""That the striker is driven at, in m/s."""
STARTS = 14
GOALS = (0.15, 0.95)
"""The nearest and the farthest, in m from where the puck lay."""
TOLERANCE = 0.08
SWAPS = [[f'{puck}/oil', f'{puck}/rubber'] for puck in MASSES]
"""Situations that change places where the world changes."""
_STEP = 0.002
_LONGEST = 12.0
_AT_REST = 0.004
_MODEL = """
<mujoco>
  <option timestep="{step}" integrator="implicitfast" cone="elliptic"/>
  <worldbody>
    <geom name="table" type="plane" size="5 5 .1"/>
    <body name="striker" pos="-.115 {aside} .03">
      <joint name="run" type="slide" axis="1 0 0" damping="1"/>
      <geom name="tip" type="sphere" size=".03" mass="1.5" contype="0" conaffinity="0"/>
    </body>
    <body name="puck" pos="{along} 0 .03">
      <joint name="puck" type="free" damping="{drag}"/>
      <geom name="disc" type="cylinder" size=".04 .03" mass="{mass}" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <contact>
    <pair geom1="disc" geom2="table" condim="3" friction="{friction} {friction}"/>
    <pair geom1="tip" geom2="disc" condim="3" friction=".2 .2"/>
  </contact>
  <actuator>
    <velocity name="drive" joint="run" kv="120" forcerange="-70 70"/>
  </actuator>
</mujoco>
"""


def list_situations() -> list[str]:
    """Return the hidden situations by name."""
    return [f'{puck}/{surface}' for puck in MASSES for surface in SURFACES]


def draw_disturbance(situation: int, start: int) -> dict[str, float]:
    """Return what differs from start to start: where the puck lies, and how worn the table is."""
    chance = np.random.default_rng([17, situation, start])
    return {
        'along': float(chance.normal(0, 0.008)),
        'aside': float(np.clip(chance.normal(0, 0.010), -0.025, 0.025)),
        'wear': float(math.exp(chance.normal(0, 0.18))),
    }


def strike(situation: str, speed: float, disturbance: dict[str, float]) -> float:
    """Return how far the puck slid, in m."""
    puck, surface = situation.split('/')
    friction, drag = SURFACES[surface]
    values = {
        'step': _STEP,
        'mass': MASSES[puck],
        'friction': friction * disturbance['wear'],
        'drag': drag * disturbance['wear'],
        'along': disturbance['along'],
        'aside': disturbance['aside'],
    }
    model = mujoco.MjModel.from_xml_string(_MODEL.format(**values))
    return _roll_out(model, mujoco.MjData(model), speed)


def _roll_out(model: Any, data: Any, speed: float) -> float:
    """Drive the striker until its tip is where the puck was, and wait until the puck rests."""
    data.ctrl[0] = speed
    mujoco.mj_forward(model, data)
    begin = data.body('puck').xpos[:2].copy()
    for step in range(int(_LONGEST / _STEP)):
        mujoco.mj_step(model, data)
        if data.qpos[0] > 0.10:
            data.ctrl[0] = 0.0
        is_struck = data.qpos[0] > 0.08
        if is_struck and step % 25 == 0 and np.linalg.norm(data.qvel[1:3]) < _AT_REST:
            break
    return float(np.linalg.norm(data.body('puck').xpos[:2] - begin))
