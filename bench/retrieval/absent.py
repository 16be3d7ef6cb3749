"""How well the score of the first answer tells questions with an answer from those without."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

HIT = 0.5
"""The score from which on an answer is shown as a hit."""


def measure_separation(answerable: Sequence[float], absent: Sequence[float]) -> dict[str, float]:
    """
    Say how the best scores of answerable and of absent questions lie; neither may be empty.

    `auc`: the chance that an answerable one scores higher. `error`: the mean of the shares of
    answerable questions under the best `threshold` and of absent ones from it on. `kept` and
    `absent_under`: the shares on the right side of HIT. `answerable_p10` and `absent_p90`: where
    the lowest tenth of the ones ends and the highest tenth of the others begins.
    """
    yes, no = np.sort(np.asarray(answerable, float)), np.sort(np.asarray(absent, float))
    under = np.searchsorted(no, yes, 'left') + np.searchsorted(no, yes, 'right')
    levels = np.unique(np.concatenate([yes, no, [np.inf]]))
    missed = np.searchsorted(yes, levels, 'left') / len(yes)
    let_in = 1 - np.searchsorted(no, levels, 'left') / len(no)
    errors = (missed + let_in) / 2
    best = int(np.argmin(errors))
    return {
        'auc': float(under.mean() / (2 * len(no))),
        'error': float(errors[best]),
        'threshold': float(levels[best]),
        'kept': float((yes >= HIT).mean()),
        'absent_under': float((no < HIT).mean()),
        'answerable_p10': float(np.quantile(yes, 0.1)),
        'absent_p90': float(np.quantile(no, 0.9)),
    }
