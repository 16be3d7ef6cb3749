"""Every setting once; ROS parameters and command-line options are made from this table."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_memory.core.authority import ROLES
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg, get_fields
from robot_memory.core.folders import expand_path, find_user_folder
from robot_memory.core.json_text import format_value


@dataclass(frozen=True)
class Settings:
    """Settings of the memory; each field is also a ROS parameter of the node."""

    db_path: str = arg(
        "Database file. Empty: $ROBOT_MEMORY_DB, else robot_memory/memory.db in the user's data "
        'folder (robot_memory/NAMESPACE/memory.db for a node in a namespace).',
        default='',
    )
    model: str = arg(
        'Folder with model.onnx and tokenizer.json. Empty: the installed model. none: keyword '
        'search only (no embedding model).',
        default='',
    )
    second_model: str = arg(
        'Folder of a model that is asked beside the first one, about texts in the languages of '
        'its manifest. Empty: the installed one, beside the default model only. none: one model.',
        default='',
    )
    embedder: str = arg(
        'Custom embedding model as package.module:Class, a subclass of BaseEmbedding; replaces '
        'model.',
        default='',
    )
    dimension: int = arg(
        'Required embedding dimension; 0 accepts any.',
        default=0,
        minimum=0,
        maximum=8192,
    )
    batch_size: int = arg(
        'Texts per embedding batch when vectors are computed in the background.',
        default=32,
        minimum=1,
        maximum=1000,
    )
    durability: str = arg(
        'full: acknowledged writes survive a power failure; normal: they survive a process crash.',
        default='full',
        choices=('full', 'normal'),
    )
    store_limit_mb: float = arg(
        'Store size in MB above which the oldest signals and images are evicted, except those of '
        'demonstrations and protected memories; 0: no limit. They always keep half of it.',
        default=4000.0,
        minimum=0.0,
        maximum=1e9,
    )
    payload_limit_mb: float = arg(
        'Size in MB of signals and images above which the oldest are evicted; 0: what the rest of '
        'the store leaves of store_limit_mb, at least half of it.',
        default=0.0,
        minimum=0.0,
        maximum=1e9,
    )
    perception_limit_mb: float = arg(
        'Size in MB of texts, terms, vectors and contexts of perceptions above which the oldest '
        'and commonest are folded: their events stay. 0: a quarter of store_limit_mb.',
        default=0.0,
        minimum=0.0,
        maximum=1e9,
    )
    real_weight: float = arg(
        'Score factor for memories with context.env.sim_or_real = "real".',
        default=1.5,
        minimum=0.1,
        maximum=10.0,
    )
    exact_search: bool = arg(
        'Compare a query with all vectors. Otherwise, from 50,000 vectors on, with those whose '
        'signs are most like its own, which finds 99 of the nearest 100.',
        default=False,
    )
    decay_rate: float = arg(
        'Fraction of its confidence that an unused memory loses per day.',
        default=0.01,
        minimum=0.0,
        maximum=0.99,
    )
    duplicate_jaccard: float = arg(
        'Jaccard similarity above which a learned text is a duplicate.',
        default=0.70,
        minimum=0.0,
        maximum=1.0,
    )
    duplicate_cosine: float = arg(
        'Calibrated cosine similarity above which a learned text is a duplicate.',
        default=0.85,
        minimum=0.0,
        maximum=1.0,
    )
    consolidate_jaccard: float = arg(
        'Jaccard similarity above which memories of a session are merged when it ends.',
        default=0.50,
        minimum=0.0,
        maximum=1.0,
    )
    default_results: int = arg(
        'Default number of results of get_context and search_memory.',
        default=5,
        minimum=1,
        maximum=50,
    )
    recall_format: str = arg(
        'Default format of recall: full, or brief for planners with little context.',
        default='full',
        choices=('full', 'brief'),
    )
    default_strategy: str = arg(
        'Default strategy of get_context.',
        default='HYBRID_ADVANCED',
        max_length=64,
    )
    default_threshold: float = arg(
        'Default score threshold of search_memory.',
        default=0.5,
        minimum=0.0,
        maximum=1.0,
    )
    debug: bool = arg('Enable debug logging.', default=False)
    cache_size: int = arg(
        'Number of query vectors to cache; 0 disables the cache.',
        default=1000,
        minimum=0,
        maximum=1_000_000,
    )
    cache_ttl: int = arg(
        'Lifetime of a cached query vector in seconds; 0: unlimited.',
        default=300,
        minimum=0,
        maximum=86_400 * 365,
    )
    log_format: str = arg(
        'text: human-readable lines; json: one JSON object per line, including one per tool call.',
        default='text',
        choices=('text', 'json'),
    )
    strategies: tuple[str, ...] = arg(
        'Custom retrieval strategies for get_context as package.module:Class, subclasses of '
        'BaseStrategy.',
        default=('',),
    )
    plugin_dirs: tuple[str, ...] = arg(
        'Folders with plug-in files (*.py), e.g. ~/.sage/plugins; only listed folders are loaded.',
        default=('',),
    )
    plugin_timeout: float = arg(
        'Timeout in seconds for calls into extensions.',
        default=5.0,
        minimum=0.01,
        maximum=600.0,
    )

    retention_days: int = arg(
        'Age in days at which unprotected perceptions and turns are soft-deleted when a session '
        'ends; 0: never.',
        default=0,
        minimum=0,
        maximum=36_500,
    )
    history_days: int = arg(
        'Age in days at which earlier states of memories are removed (history, undo, as_of); 0: '
        'never.',
        default=0,
        minimum=0,
        maximum=36_500,
    )
    clock_gap_days: float = arg(
        'Days after the last trusted time at which an unsynchronised clock becomes suspect: '
        'decay and retention then wait.',
        default=30.0,
        minimum=1.0,
        maximum=36_500.0,
    )
    backup_folder: str = arg('Backup folder; empty disables backups.', default='')
    backup_interval: str = arg(
        'Backup interval.', default='daily', choices=('hourly', 'daily', 'weekly')
    )
    backup_keep: int = arg(
        'Number of backups to keep; the oldest is deleted once a new one is complete.',
        default=7,
        minimum=1,
        maximum=1000,
    )
    backup_compression: str = arg('Backup compression.', default='gzip', choices=('gzip', 'none'))
    disk_reserve: int = arg(
        'Disk space in MB kept for forget, erase and maintain on a full disk; 0 keeps none.',
        default=32,
        minimum=0,
        maximum=4096,
    )
    encryption: str = arg(
        'Must be none: the store is not encrypted. Use disk or folder encryption (LUKS, fscrypt).',
        default='none',
    )
    auto_save: bool = arg(
        'Enable automatic context injection and save reminders for agents; /mode overrides it.',
        default=True,
    )
    time_zone: str = arg(
        'IANA time zone of days, hours and times without an offset, e.g. Europe/Berlin; empty: '
        "the system's.",
        default='',
        max_length=64,
    )
    regions_file: str = arg(
        'YAML file with named regions, no-record zones and no-record times. Empty: '
        'memory.regions.yaml beside memory.db, where it exists.',
        default='',
    )
    no_record_zones: tuple[str, ...] = arg(
        'Regions of regions_file in which nothing is recorded, by the place of the sensor; more '
        'than those the file names.',
        default=('',),
    )
    no_record_times: tuple[str, ...] = arg(
        'Daily times at which nothing is recorded, as 22:00-06:00 or mon-fri 08:00-12:00, in '
        'time_zone; more than those of regions_file.',
        default=('',),
    )
    viewer_url: str = arg(
        'Address of the web viewer, e.g. https://cell-1.local:17880; recall, get_context and '
        'suggest then name the page of each memory. Empty: they name none.',
        default='',
        max_length=500,
    )
    allow_forget_all: bool = arg(
        'Allow /forget all over MCP; protected memories are kept in any case.',
        default=False,
    )
    http_role: str = arg(
        'Role of MCP calls over HTTP without a token.', default='planner', choices=ROLES
    )
    stdio_role: str = arg('Role of MCP calls over stdio.', default='planner', choices=ROLES)
    python_role: str = arg('Role of calls from Python.', default='planner', choices=ROLES)
    ros_role: str = arg('Role of calls over ROS.', default='planner', choices=ROLES)
    cli_role: str = arg(
        'Role of the command line; owner: operator if the user owns the store, else planner.',
        default='owner',
        choices=('owner', *ROLES),
    )


LIVE_SETTINGS = (
    *(field.name for field in get_fields(Settings) if field.kind == 'number'),
    'auto_save',
    'exact_search',
)
"""The settings that can be changed while the node runs."""


@dataclass(frozen=True)
class NodeSettings:
    """Settings of the node itself."""

    autostart: bool = arg(
        'Configure and activate the node at its start; false: a lifecycle manager does that.',
        default=True,
    )
    map_name: str = arg(
        'Map that the robot has at the start; empty: the one that held before. With map_file its '
        'name, where that is not the name of the file.',
        default='',
        max_length=64,
    )
    map_revision: int = arg(
        'Revision of map_name; 0: the newest of that name, or 1.',
        default=0,
        minimum=0,
        maximum=1_000_000_000,
    )
    map_frame: str = arg('tf frame that the map defines.', default='map', max_length=128)
    map_file: str = arg(
        'File of the map, as that of map_server; a new revision begins where its content, or that '
        'of its image, is new.',
        default='',
    )


def tools_arg() -> Any:
    """Declare which tools an MCP server lists."""
    return arg(
        'Tools that MCP lists: planner (what a language model plans and acts with), core (the '
        "robot's eight) or all; unlisted tools can still be called.",
        default='planner',
        choices=('planner', 'core', 'all'),
    )


def output_schemas_arg() -> Any:
    """Declare whether an MCP server lists output schemas."""
    return arg(
        'List output schemas of tools over MCP, for clients that check answers; they take more of '
        "a model's context than all else in the list.",
        default=False,
    )


@dataclass(frozen=True)
class McpSettings:
    """HTTP server and access control settings of the node."""

    mcp_enabled: bool = arg('Serve the tools over MCP (streamable HTTP).', default=True)
    mcp_host: str = arg(
        'Bind address of the MCP server; a non-loopback address requires a token.',
        default='127.0.0.1',
    )
    mcp_port: int = arg(
        'Port of the MCP server; 0 selects a free port. Required for a node in a namespace.',
        default=17800,
        minimum=0,
        maximum=65535,
    )
    mcp_token_file: str = arg(
        'File with the bearer token that every MCP request must carry, or with principals, roles '
        'and hashes of tokens as JSON, mode 0600. Empty: $ROBOT_MEMORY_TOKEN; if that is unset, '
        'no token is required.',
        default='',
    )
    mcp_allowed_hosts: tuple[str, ...] = arg(
        'Additional host names, without port, accepted in Host and Origin headers.',
        default=('',),
    )
    mcp_tools: str = tools_arg()
    mcp_output_schemas: bool = output_schemas_arg()


def refuse_unusable(settings: Settings) -> None:
    """Raise InvalidArgument for settings that would only pretend, or that no page opens with."""
    address = settings.viewer_url
    if address and not (address.isprintable() and address.startswith(('http://', 'https://'))):
        raise InvalidArgument(
            f'viewer_url must begin with http:// or https://, not {format_value(address)}'
        )
    if settings.encryption != 'none':
        raise InvalidArgument(
            f'encryption must be none, not {format_value(settings.encryption)}: a key stored on '
            'the robot beside the file would protect nothing; use disk or folder encryption '
            '(LUKS, fscrypt)'
        )


def find_store_path(settings: Settings) -> Path:
    """Return the file that the settings name, with the environment's and the user's defaults."""
    named = os.environ.get('ROBOT_MEMORY_DB')
    for name, path in (('db_path', settings.db_path), ('ROBOT_MEMORY_DB', named)):
        if path:
            found = expand_path(path, name)
            if not found.name:  # '/' and '.'
                raise InvalidArgument(f'{name} is {path}, which is a folder; name a file')
            return found
    return find_user_folder('XDG_DATA_HOME', '.local/share') / 'robot_memory' / 'memory.db'


def is_store_named(settings: Settings) -> bool:
    """Say whether the settings or the environment name a store; otherwise it is the default."""
    return bool(settings.db_path or os.environ.get('ROBOT_MEMORY_DB'))


def find_cache_folder() -> Path:
    """Name the folder of what can be made anew: the default model, the list of fonts of plots."""
    return find_user_folder('XDG_CACHE_HOME', '.cache') / 'robot_memory'
