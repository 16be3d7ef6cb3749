"""The learning curves, as a plot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from lives.draw import VARIANTS
from lives.registry import ARMS
from lives.report import Lives

_OVER = 20
"""Trials that a point is the mean of."""


def plot_curves(found: Mapping[tuple[str, str], Mapping[str, Lives]], path: Path) -> None:
    """Draw success by trial, a panel for each skill and variant, a line for each arm."""
    import matplotlib as mpl

    mpl.use('Agg')
    from matplotlib import pyplot

    skills = sorted({skill for skill, _ in found}, reverse=True)
    variants = [name for name in VARIANTS if any(name == variant for _, variant in found)]
    size = (4.6 * len(variants), 3.6 * len(skills) + 0.6)
    figure, panels = pyplot.subplots(len(skills), len(variants), figsize=size, squeeze=False)
    colors = pyplot.get_cmap('tab10')
    for row, skill in enumerate(skills):
        for column, variant in enumerate(variants):
            panel = panels[row][column]
            panel.set_title(f'{skill}, {variant}', fontsize=10)
            panel.set_ylim(0, 85)
            panel.grid(alpha=0.3)
            for edge in VARIANTS[variant].changed:
                if 0 < edge < VARIANTS[variant].trials:
                    panel.axvline(edge, color='gray', linestyle=':')
            arms = found.get((skill, variant), {})
            for place, name in enumerate(ARMS):
                if name in arms:
                    places, means = _smooth(arms[name])
                    panel.plot(places, means, label=name, color=colors(place % 10))
    panels[0][0].set_ylabel(f'success in %, over {_OVER} trials')
    known = {
        name: line
        for one in panels.flat
        for line, name in zip(*one.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        [*known.values()], [*known], loc='lower center', ncol=5, fontsize=8, frameon=False
    )
    figure.tight_layout(rect=(0, 0.5 / size[1] + 0.02, 1, 1))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _smooth(lives: Lives) -> tuple[list[float], list[float]]:
    """Return the middle of each run of trials, and the success in it in %."""
    mean = np.mean([life['success'] for life in lives.values()], axis=0)
    edges = range(0, len(mean), _OVER)
    places = [edge + _OVER / 2 for edge in edges]
    return places, [100 * float(np.mean(mean[edge : edge + _OVER])) for edge in edges]
