"""Taking the port: before a node begins to serve, so that a second one never does."""

from __future__ import annotations

import errno
import socket

from robot_memory.core.errors import Unavailable
from robot_memory.http.access_control import Address
from robot_memory.http.faces import MCP, Face


def listen(address: Address, port: int, face: Face = MCP) -> socket.socket:
    """Return a socket that listens; raise Unavailable where the port cannot be had."""
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    # asyncio sets TCP_NODELAY only where it sees this protocol; without it a call waits 40 ms
    # for a delayed acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((str(address), port))
        listening.listen(128)
    except (OSError, OverflowError) as error:
        listening.close()
        where = f'port {port} of {address}'
        taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        reason = (
            f'{where} is in use, possibly by another memory node'
            if taken
            else f'{where} cannot be bound ({error})'
        )
        raise Unavailable(
            f'cannot serve {face.name}: {reason}; stop that program, set {face.prefix}_port to '
            f'another port (0: any free port), or {face.off}'
        ) from None
    return listening
