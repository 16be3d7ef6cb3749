"""The catalog: every tool that the faces serve."""

from typing import Any

from robot_memory.sage.tools.sage_auto import sage_auto
from robot_memory.sage.tools.sage_command import sage_command
from robot_memory.sage.tools.sage_memory import sage_memory
from robot_memory.sage.tools.sage_smart_prompt import sage_smart_prompt
from robot_memory.sage.tools.sage_system_status import sage_system_status
from robot_memory.tool import Tool
from robot_memory.tools.analyze import analyze
from robot_memory.tools.clear_session import clear_session
from robot_memory.tools.end_session import end_session
from robot_memory.tools.export import export
from robot_memory.tools.forget import forget
from robot_memory.tools.get_context import get_context
from robot_memory.tools.get_memory_stats import get_memory_stats
from robot_memory.tools.history import history
from robot_memory.tools.learn import learn
from robot_memory.tools.maintain import maintain
from robot_memory.tools.query_events import query_events
from robot_memory.tools.query_records import query_records
from robot_memory.tools.recall import recall
from robot_memory.tools.review import review
from robot_memory.tools.save_conversation import save_conversation
from robot_memory.tools.save_perception import save_perception
from robot_memory.tools.search_memory import search_memory
from robot_memory.tools.show import show
from robot_memory.tools.start_session import start_session
from robot_memory.tools.trust import trust
from robot_memory.tools.undo import undo
from robot_memory.tools.update import update

TOOLS: tuple[Tool[Any, Any], ...] = (
    learn,
    recall,
    save_perception,
    forget,
    update,
    start_session,
    end_session,
    query_records,
    query_events,
    show,
    history,
    undo,
    save_conversation,
    get_context,
    search_memory,
    get_memory_stats,
    clear_session,
    analyze,
    export,
    maintain,
    review,
    trust,
    sage_memory,
    sage_command,
    sage_auto,
    sage_smart_prompt,
    sage_system_status,
)
