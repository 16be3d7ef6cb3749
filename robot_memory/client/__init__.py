"""Clients of a memory that another process serves; they need the standard library alone."""

from robot_memory.client.clients import MemoryClient as MemoryClient
from robot_memory.client.clients import ParamError as ParamError
from robot_memory.client.clients import PartlySaved as PartlySaved
from robot_memory.client.clients import SageClient as SageClient
from robot_memory.client.clients import SearchResult as SearchResult
from robot_memory.client.clients import TDAIException as TDAIException
