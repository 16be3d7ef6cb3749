"""
Text to vectors: the protocol, the ONNX embedder, where its model is, and how it is loaded.

The embedder and the calibration are imported when they are asked for: who loads no model needs
none of their code, nor numpy. The runtime's telemetry is switched off at once, before a program
can import that runtime itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robot_memory.embedding.loader import BackgroundEmbedder
from robot_memory.embedding.locate import ensure_default_model, find_model
from robot_memory.embedding.protocol import Embedder
from robot_memory.embedding.runtime import OPT_OUT as OPT_OUT

if TYPE_CHECKING:
    from robot_memory.embedding.calibration import Calibration, measure_calibration
    from robot_memory.embedding.onnx import OnnxEmbedder

__all__ = [
    'BackgroundEmbedder',
    'Calibration',
    'Embedder',
    'OnnxEmbedder',
    'ensure_default_model',
    'find_model',
    'measure_calibration',
]


def __getattr__(name: str) -> Any:
    if name == 'OnnxEmbedder':
        from robot_memory.embedding.onnx import OnnxEmbedder

        return OnnxEmbedder
    if name in ('Calibration', 'measure_calibration'):
        from robot_memory.embedding import calibration

        return getattr(calibration, name)
    raise AttributeError(f'{__name__} has no {name}')
