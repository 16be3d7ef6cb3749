"""The ROS 2 face: a node, its services, its parameters and its taps on the robot's topics."""
