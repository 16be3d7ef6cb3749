"""
The names of the Sage document, as it imports them; each is one of robot_memory's.

They are imported when they are asked for, so that `from sage_mcp import SageClient` needs the
standard library alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robot_memory.client import PartlySaved, SageClient, SearchResult
    from robot_memory.extensions.bases import Plugin, Veto
    from robot_memory.guidance.commands import CommandType
    from robot_memory.monitoring.handling import (
        ErrorHandler,
        with_circuit_breaker,
        with_error_handling,
        with_performance_monitoring,
    )
    from robot_memory.monitoring.registry import ErrorSeverity
    from robot_memory.sage.analyzer import AnalysisType, MemoryAnalyzer
    from robot_memory.sage.command_parser import SageCommandParser
    from robot_memory.sage.session_manager import EnhancedSessionManager, SessionSearchType
    from robot_memory.sage.smart_prompt import PromptContext, SmartPromptGenerator

__all__ = [
    'AnalysisType',
    'CommandType',
    'EnhancedSessionManager',
    'ErrorHandler',
    'ErrorSeverity',
    'MemoryAnalyzer',
    'PartlySaved',
    'Plugin',
    'PromptContext',
    'SageClient',
    'SageCommandParser',
    'SearchResult',
    'SessionSearchType',
    'SmartPromptGenerator',
    'Veto',
    'with_circuit_breaker',
    'with_error_handling',
    'with_performance_monitoring',
]

_WHERE = {
    'client': ('PartlySaved', 'SageClient', 'SearchResult'),
    'extensions.bases': ('Plugin', 'Veto'),
    'guidance.commands': ('CommandType',),
    'monitoring.handling': (
        'ErrorHandler',
        'with_circuit_breaker',
        'with_error_handling',
        'with_performance_monitoring',
    ),
    'monitoring.registry': ('ErrorSeverity',),
    'sage.analyzer': ('AnalysisType', 'MemoryAnalyzer'),
    'sage.command_parser': ('SageCommandParser',),
    'sage.smart_prompt': ('PromptContext', 'SmartPromptGenerator'),
    'sage.session_manager': ('EnhancedSessionManager', 'SessionSearchType'),
}
_MODULES = {name: module for module, names in _WHERE.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f'sage_mcp has no {name}; it has {", ".join(__all__)}')
    return getattr(importlib.import_module(f'robot_memory.{module}'), name)


def __dir__() -> list[str]:
    return __all__
