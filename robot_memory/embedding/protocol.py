"""What the rest of the package may ask of a model that turns text into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from robot_memory.embedding.calibration import Calibration


class Embedder(Protocol):
    """
    Turn text into unit vectors whose dot product says how close two meanings are.

    Implementations are safe to call from several threads at once.
    """

    @property
    def name(self) -> str:
        """Name the model and its bytes; vectors of different names cannot be compared."""

    @property
    def dimension(self) -> int:
        """Count the components of one vector."""

    @property
    def calibration(self) -> Calibration:
        """Map a dot product of this model to the scale of the documented thresholds."""

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts that are kept; shape (n, dimension), rows of length 1, finite."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a text that is searched with; shape (dimension,), length 1, finite."""


@runtime_checkable
class RoundedAnew(Protocol):
    """Name models of the same weights, whose vectors can be compared with its own."""

    @property
    def same_as(self) -> tuple[str, ...]:
        """Name them with their bytes, as `Embedder.name` did."""


@runtime_checkable
class SecondEmbedder(Embedder, Protocol):
    """Also say which texts it is asked about beside a first model."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Name the languages that question and memory must be in."""

    @property
    def turns(self) -> bool:
        """Say whether it is asked about turns of conversations."""
