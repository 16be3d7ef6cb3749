"""
The inverse of a covariance by its root, in pieces that are multiplied.

numpy has no inverse of a triangular matrix, and its inverse of any matrix takes twice as long at
some hundred rows and loses more digits.
"""

from __future__ import annotations

import numpy as np

from robot_memory.skills.trials import Floats

_SMALL = 40
"""Rows up to which LAPACK's general inverse is the faster one."""
_NOISIER = (1e-10, 1e-8, 1e-6, 1e-4)
"""Of the mean variance: the cosines of situations have seven digits."""


def whiten(covariance: Floats) -> tuple[Floats, float]:
    """
    Return the matrix that makes what has a covariance white, and the covariance's log determinant.

    The inverse of the covariance (n, n) is the matrix (n, n), which is lower triangular,
    transposed times itself. What rounding has made indefinite counts as a little noisier; where no
    noise helps, all is NaN.
    """
    root = find_root(covariance)
    return _invert(root), 2 * float(np.log(np.diag(root)).sum())


def find_root(covariance: Floats) -> Floats:
    """Return the lower triangular root of a covariance (Cholesky)."""
    for share in (0.0, *_NOISIER):
        noisier = covariance
        if share:
            noise = share * float(np.trace(covariance)) / len(covariance)
            noisier = covariance + noise * np.eye(len(covariance))
        try:
            return np.asarray(np.linalg.cholesky(noisier), float)
        except np.linalg.LinAlgError:
            continue
    return np.full_like(covariance, np.nan)


def _invert(lower: Floats) -> Floats:
    """Return the inverse of a lower triangular matrix, by that of its halves."""
    if len(lower) <= _SMALL:
        return np.asarray(np.linalg.inv(lower), float)
    half = len(lower) // 2
    first, second = _invert(lower[:half, :half]), _invert(lower[half:, half:])
    found = np.zeros_like(lower)
    found[:half, :half], found[half:, half:] = first, second
    np.matmul(second, lower[half:, :half] @ -first, out=found[half:, :half])
    return found
