"""Callers of several authorities."""

from __future__ import annotations

from robot_memory.core.authority import Writer
from robot_memory.lifecycle.authority import calling as calling

OPERATOR = Writer.of_role('cli', 'anna', 'operator')
PLANNER = Writer.of_role('mcp-http', 'planner 1', 'planner')
