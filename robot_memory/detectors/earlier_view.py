"""The view that was stored last before a stream began: what its first image is compared with."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image

from robot_memory.core.errors import InvalidArgument
from robot_memory.detectors.image_change import CellGrid
from robot_memory.detectors.images import decode_compressed, hash_image, is_same_view

_SAME_SHAPE = 1.05


@dataclass(frozen=True)
class EarlierView:
    """Hold a stored view: its stamp, its look (`hash_image`), and its JPEG while that is kept."""

    stamp_ns: int
    look: str
    jpeg: bytes | None

    def to_cells(self, first: CellGrid) -> CellGrid | None:
        """
        Return it in the cells of a stream's first image; None where the two cannot be compared.

        Without its JPEG it is the first image itself, where that looks the same as a whole.
        """
        if self.jpeg is None:
            return first if is_same_view(self.look, hash_image(first.to_image())) else None
        try:
            image = decode_compressed(self.jpeg).image
        except InvalidArgument:
            return None
        colours, rows, columns = first.levels.shape
        shape = image.width * rows / (image.height * columns)
        if len(image.getbands()) != colours or not 1 / _SAME_SHAPE < shape < _SAME_SHAPE:
            return None
        return CellGrid.from_image(image.resize((columns, rows), Image.Resampling.BOX))
