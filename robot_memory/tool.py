"""The `@tool` declaration: one function, one request and one response, for all faces."""

from __future__ import annotations

import inspect
import logging
import threading
import time
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Generic, TypeVar

from robot_memory.core import fields
from robot_memory.core.authority import Writer
from robot_memory.core.coercion import coerce_arguments
from robot_memory.core.errors import Cancelled, Conflict, Internal, RobotMemoryError
from robot_memory.memory import Memory
from robot_memory.status import logs

Request = TypeVar('Request')
Response = TypeVar('Response')
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Tool(Generic[Request, Response]):
    """
    Hold what every face needs of one tool.

    `read_only`, `destructive` and `idempotent` are MCP's hints; a recall counts as read-only
    though it notes what it recalled. `core` and `planner` tools are those that MCP lists by these
    profiles; `ros` says whether there is a service; `sage` tools are those of the Sage document.
    An `operator` tool is refused to all others; a viewer may call those that are read-only. A
    `long` one may read much of the store: these run one at a time, and others go first. What
    `frees_space` may have the disk's reserve.
    """

    function: Callable[[Memory, Request], Response]
    request: type[Request]
    response: type[Response]
    read_only: bool
    destructive: bool
    idempotent: bool
    core: bool
    planner: bool
    ros: bool
    sage: bool
    operator: bool
    long: bool
    frees_space: bool

    @cached_property
    def declared(self) -> dict[str, fields.Field]:
        """Return the fields of the request, by name."""
        return {field.name: field for field in fields.get_fields(self.request)}

    @property
    def name(self) -> str:
        """Return the name that every face calls the tool by."""
        return self.function.__name__

    @property
    def help(self) -> str:
        """Return the tool's documentation."""
        return inspect.getdoc(self.function) or ''

    @property
    def brief(self) -> str:
        """Return the documentation without its details: what it does, and when to call it."""
        return '\n\n'.join(self.help.split('\n\n')[:2])

    @property
    def summary(self) -> str:
        """Return the first sentence of the documentation."""
        return self.help.partition('\n')[0]

    def is_listed(self, profile: str) -> bool:
        """Return whether MCP lists the tool: by the profile 'planner', 'core' or 'all'."""
        return profile == 'all' or (self.core if profile == 'core' else self.planner)

    def run(
        self, memory: Memory, arguments: Mapping[str, Any], *, in_background: bool = False
    ) -> Response:
        """
        Check plain arguments and answer them.

        One `in_background` may take minutes: it keeps no other call waiting. Raise a
        RobotMemoryError and nothing else: a fault of our own is logged with its traceback and
        becomes Internal, so that no face can be ended by one.
        """
        request = response = failure = None
        name, order = self.name, memory.call_order
        start = time.perf_counter()
        with logs.start_trace():
            try:
                given = coerce_arguments(self.declared, arguments, self.destructive)
                request = fields.parse(self.request, given, name)
                if self.operator or not self.read_only:
                    self._check_role(memory.caller)
                if self.frees_space:
                    memory.disk_reserve.release()
                memory.timekeeper.check()
                if in_background:
                    response = self.function(memory, request)
                    return response
                if self.long:
                    response = order.run_long(partial(self.function, memory, request))
                    return response
                order.short.append(own := threading.get_ident())
                try:
                    response = self.function(memory, request)
                finally:
                    order.short.remove(own)
                return response
            except Exception as error:
                failure = self._explain(error)
                if not isinstance(error, Cancelled):
                    memory.registry.record_error(name, failure.code, str(failure))
                if failure is error:
                    raise
                raise failure from error
            finally:
                seconds = time.perf_counter() - start
                memory.registry.record_request(name, seconds)
                logs.log_call(memory, name, request, response, failure, seconds)

    def describe_failure(self, error: RobotMemoryError) -> dict[str, Any]:
        """
        Return a failure as structure: error_code, the message, and the code.

        The code is the same word, but for tools of the Sage document where the failure has a
        number there: then it is that number, with a hint.
        """
        body = {'error_code': error.code, 'code': error.code, 'message': str(error)}
        if not self.sage or error.number is None:
            return body
        return {**body, 'code': error.number, 'hint': error.hint}

    def _check_role(self, caller: Writer) -> None:
        """Raise Conflict where the tool is not for a caller of this role."""
        if self.operator:
            caller.require_operator(self.name)
        if not (self.read_only or caller.may_write):
            raise Conflict(
                f'{self.name} writes, and a viewer may only read; nothing was changed. Use the '
                'token of a planner or an operator'
            )

    def _explain(self, error: Exception) -> RobotMemoryError:
        """Return what a caller is told of an error; log the traceback of a fault of our own."""
        if isinstance(error, RobotMemoryError):
            return error
        logger.exception('%s failed', self.name)
        return Internal(
            f'{self.name} failed internally: {type(error).__name__}: {error}; nothing was '
            'changed, the log has the traceback'
        )


def tool(
    *,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    core: bool = False,
    planner: bool | None = None,
    ros: bool = True,
    sage: bool = False,
    operator: bool = False,
    long: bool = False,
    frees_space: bool = False,
) -> Callable[[Callable[[Memory, Request], Response]], Tool[Request, Response]]:
    """
    Declare a function of a memory and a request as a tool.

    A core tool is listed for planners unless `planner` is False.
    """

    def declare(function: Callable[[Memory, Request], Response]) -> Tool[Request, Response]:
        hints = typing.get_type_hints(function)
        return Tool(
            function=function,
            request=hints['request'],
            response=hints['return'],
            read_only=read_only,
            destructive=destructive,
            idempotent=idempotent,
            core=core,
            planner=core if planner is None else planner,
            ros=ros,
            sage=sage,
            operator=operator,
            long=long,
            frees_space=frees_space,
        )

    return declare
