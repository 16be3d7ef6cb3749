"""The vectors of one text, by each model that was asked about it."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.embedding.quantisation import Vector


@dataclass(frozen=True)
class TextVectors:
    """
    Hold the vector of the first model, and that of the second one where it was asked.

    `second_model` names the second; vectors of different names cannot be compared. `form` is the
    text where it is the form of many.
    """

    first: Vector
    second: Vector | None = None
    second_model: str = ''
    form: str = ''
