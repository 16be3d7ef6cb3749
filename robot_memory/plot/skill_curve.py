"""How the success of a skill goes over its trials: a panel for the whole and each situation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator, PercentFormatter

from robot_memory.core.proportions import compute_wilson
from robot_memory.plot.drawn import Curve, SkillDrawing
from robot_memory.plot.page import HAIR, QUIET, Page, Strip, annotate, plot
from robot_memory.plot.text import wrap_text
from robot_memory.plot.time_axis import TimeAxis

REAL, SIMULATED, CHANGED = '#4374a8', '#b87628', '#c0392b'
HEIGHT = 210.0
WINDOW = 20
"""Trials that a point of a curve stands for; at the beginning it has fewer."""


def draw_skill(drawing: SkillDrawing, width: int, notes: Sequence[str] = ()) -> bytes:
    """Return the PNG of a skill: success of the last trials with its Wilson interval."""
    said = f'success of the last {WINDOW} trials, Wilson interval (95 %)'
    is_mixed = any(one.is_simulated for curve in drawing.curves for one in curve.outcomes)
    page = Page(
        width=width,
        title=drawing.title,
        facts=drawing.facts,
        times=TrialAxis(((0, drawing.trials + 1),), 0),
        rows=[Panel(curve) for curve in drawing.curves],
        notes=(said, *['brown: simulated'] * is_mixed, *notes),
        strip=Strip((), HEIGHT),
    )
    return page.to_png()


@dataclass(frozen=True)
class TrialAxis(TimeAxis):
    """Show numbers of trials, from 1, in place of times."""

    def apply(self, axes: Sequence[Axes]) -> None:
        """Set the limits of axes that share their x."""
        axes[0].set_xlim(*self.stretches[0])
        self.set_ticks(axes[-1])

    def set_ticks(self, axes: Axes) -> None:
        """Set whole numbers as ticks."""
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        axes.set_xlabel('trial', size=7, color=QUIET)


@dataclass
class Panel:
    """The success of some trials of a skill, and where the world changed."""

    curve: Curve
    height: float = HEIGHT

    def draw(self, axes: Axes, times: TimeAxis) -> None:
        """Draw real and simulated trials apart, each with its interval."""
        axes.set_ylim(-0.02, 1.02)
        axes.yaxis.set_major_locator(FixedLocator([0, 0.5, 1]))
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, 0))
        axes.axhline(0.5, color=HAIR, linewidth=0.5, zorder=0)
        for is_simulated, color in ((False, REAL), (True, SIMULATED)):
            chosen = [one for one in self.curve.outcomes if one.is_simulated is is_simulated]
            if not chosen:
                continue
            x = [one.trial for one in chosen]
            shares, lows, highs = slide([one.success for one in chosen])
            if len(x) > 1:
                axes.fill_between(x, lows, highs, color=color, alpha=0.2, linewidth=0)
            else:
                axes.vlines(x, lows, highs, color=color, alpha=0.3, linewidth=2)
            plot(axes, np.array(x), np.array(shares), 1.4, color=color)
        for since, _ in self.curve.changes:
            axes.axvline(since, color=CHANGED, linewidth=0.9)
        axes.set_ylabel(wrap_text(self.curve.name, 7, 0.9 * self.height), size=7, color=QUIET)

    def label(self, axes: Axes, times: TimeAxis) -> None:
        """Say at each change which it was."""
        for since, is_back in self.curve.changes:
            said = 'as before again' if is_back else 'changed'
            annotate(axes, said, (since, 0.03), (3, 0), color=CHANGED)


def slide(successes: Sequence[bool]) -> tuple[list[float], list[float], list[float]]:
    """Return the share of the last WINDOW successes after each trial, and its interval's ends."""
    shares, lows, highs = [], [], []
    for end in range(1, len(successes) + 1):
        last = successes[max(0, end - WINDOW) : end]
        low, high = compute_wilson(sum(last), len(last))
        shares.append(sum(last) / len(last))
        lows.append(low)
        highs.append(high)
    return shares, lows, highs
