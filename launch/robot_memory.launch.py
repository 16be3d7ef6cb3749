"""Start the memory: `ros2 launch robot_memory robot_memory.launch.py namespace:=cell_1`."""

import os
from pathlib import Path

from ament_index_python.packages import get_package_prefix
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription
from robot_memory.core import params_file
from robot_memory.core.errors import RobotMemoryError
from robot_memory.ros.namespaces import choose_store

ARGUMENTS = {
    'namespace': (
        '',
        'Node namespace; each has its own default store and requires its own mcp_port.',
    ),
    'params_file': ('', 'YAML parameter file with the key /**; empty: defaults.'),
    'db_path': ('', 'Database file; empty: as in the parameter file, or default.'),
    'mcp_port': ('', 'MCP port; empty: as in the parameter file, or default.'),
    'source': ('', 'Name of the robot as event source; empty: as in the parameter file.'),
    'use_sim_time': ('false', 'Use /clock: true or false.'),
    'respawn': ('false', 'Restart the node when it exits: true or false.'),
    'view': ('false', 'Serve the web viewer beside the node: true or false.'),
    'view_port': ('17880', 'Port of the web viewer; 0: any free port.'),
    'log_level': ('info', 'Log level: debug, info, warn, error or fatal.'),
}
CHOICES = {
    'use_sim_time': ['true', 'false'],
    'respawn': ['true', 'false'],
    'view': ['true', 'false'],
    'log_level': ['debug', 'info', 'warn', 'error', 'fatal'],
}
RESPAWN_DELAY = 2.0
# A launch that SIGTERM ends leaves its processes running.
ENDS_WITH_LAUNCH = {'ROBOT_MEMORY_ENDS_WITH': str(os.getpid())}


def generate_launch_description():
    """Return the node with its launch arguments."""
    declared = [
        DeclareLaunchArgument(
            name, default_value=default, description=words, choices=CHOICES.get(name)
        )
        for name, (default, words) in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start)])


def start(context):
    """Return the node as the launch arguments describe it; an argument left empty says nothing."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    namespace = '/'.join(filter(None, given['namespace'].split('/')))
    parameters = {'use_sim_time': given['use_sim_time'] == 'true'}
    for name in filter(given.get, ('db_path', 'source')):
        parameters[name] = ParameterValue(given[name], value_type=str)
    if given['mcp_port']:
        parameters['mcp_port'] = _port(given['mcp_port'])
    files, in_file = [], {}
    if given['params_file']:
        in_file = _read(given['params_file'], f'/{namespace}/robot_memory'.replace('//', '/'))
        files.append(given['params_file'])
    levels = [given['log_level'], 'rcl:=info', 'rmw_fastrtps_cpp:=info']
    node = [
        Node(
            package='robot_memory',
            executable='memory_node',
            name='robot_memory',
            namespace=namespace,
            output='screen',
            respawn=given['respawn'] == 'true',
            respawn_delay=RESPAWN_DELAY,
            parameters=[*files, parameters],
            additional_env=ENDS_WITH_LAUNCH,
            # At debug rcl and the middleware write thousands of lines a second.
            ros_arguments=[part for level in levels for part in ('--log-level', level)],
        )
    ]
    if given['view'] == 'true':
        node.append(_make_viewer(given, in_file, namespace))
    return node


def _make_viewer(given, in_file, namespace):
    """Return the web viewer of the node's store: a process of its own, so that it stops no tap."""
    store = given['db_path'] or in_file.get('db_path')
    if not store and namespace:
        try:
            store = choose_store(f'/{namespace}')
        except RobotMemoryError as error:
            raise RuntimeError(f'view: {error}') from None
    options = {
        '--view-port': str(_port(given['view_port'], 'view_port')),
        '--db': store,
        '--mcp-token-file': in_file.get('mcp_token_file'),
    }
    program = Path(get_package_prefix('robot_memory')) / 'lib/robot_memory/robot-memory'
    return ExecuteProcess(
        cmd=[
            str(program),
            'view',
            '--view-wait',  # for the store that the node is about to make
            *(f'{name}={value}' for name, value in options.items() if value),
        ],
        name='viewer',
        output='screen',
        additional_env=ENDS_WITH_LAUNCH,
        # A store that the node is about to upgrade is refused until it has done so.
        respawn=True,
        respawn_delay=RESPAWN_DELAY,
    )


def _port(text, name='mcp_port'):
    if not text.isdigit() or int(text) > 65535:
        raise RuntimeError(f'{name} must be 0 to 65535, not {text!r}')
    return int(text)


def _read(path, node):
    """Read a params file; refuse one that launch would pass over, or the node would not read."""
    try:
        return params_file.read_node_params(params_file.Path(path), node)
    except RobotMemoryError as error:
        raise RuntimeError(f'params_file: {error}') from None
