"""Start the memory: `ros2 launch robot_memory robot_memory.launch.py namespace:=cell_1`."""

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription


def generate_launch_description():
    """Return the node with its launch arguments."""
    defaults = PathJoinSubstitution(
        [FindPackageShare('robot_memory'), 'config', 'robot_memory.yaml']
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'namespace', default_value='', description='Namespace of the node.'
            ),
            DeclareLaunchArgument(
                'params_file',
                default_value=defaults,
                description='YAML file of parameters, keyed by /**.',
            ),
            DeclareLaunchArgument(
                'use_sim_time', default_value='false', description='Follow /clock.'
            ),
            DeclareLaunchArgument(
                'log_level',
                default_value='info',
                choices=['debug', 'info', 'warn', 'error', 'fatal'],
                description='How much the node says.',
            ),
            Node(
                package='robot_memory',
                executable='memory_node',
                name='robot_memory',
                namespace=LaunchConfiguration('namespace'),
                output='screen',
                parameters=[
                    LaunchConfiguration('params_file'),
                    {
                        'use_sim_time': ParameterValue(
                            LaunchConfiguration('use_sim_time'), value_type=bool
                        )
                    },
                ],
                arguments=[
                    '--ros-args',
                    '--log-level',
                    LaunchConfiguration('log_level'),
                    # At debug these two write thousands of lines a second.
                    '--log-level',
                    'rcl:=info',
                    '--log-level',
                    'rmw_fastrtps_cpp:=info',
                ],
            ),
        ]
    )
