"""
Start two memories: `ros2 launch robot_memory two_robots.launch.py`.

Each has its namespace, store, MCP port and parameter file. Topics in the files begin with a slash,
so each robot's are remapped into its namespace.
"""

import os
from pathlib import Path

from launch_ros.actions import Node

from launch import LaunchDescription

CONFIG = Path(__file__).resolve().parent.parent / 'config'
ROBOTS = {
    'arm': (
        17801,
        'ur5e.yaml',
        (
            '/joint_states',
            '/force_torque_sensor_broadcaster/wrench',
            '/io_and_status_controller/robot_program_running',
        ),
    ),
    'base': (17802, 'mobile_base.yaml', ('/joint_states', '/camera/image_raw', '/task', '/odom')),
}


def generate_launch_description():
    """Return one node for each robot."""
    nodes = [
        Node(
            package='robot_memory',
            executable='memory_node',
            name='robot_memory',
            namespace=name,
            output='screen',
            parameters=[str(CONFIG / file), {'mcp_port': port, 'source': name}],
            # A launch that SIGTERM ends leaves its processes running.
            additional_env={'ROBOT_MEMORY_ENDS_WITH': str(os.getpid())},
            remappings=[(topic, f'/{name}{topic}') for topic in topics],
        )
        for name, (port, file, topics) in ROBOTS.items()
    ]
    return LaunchDescription(nodes)
