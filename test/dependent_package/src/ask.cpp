// Fills a request and reads an answer as a node in C++ does, with every header included.
#include "headers.hpp"

#include <iostream>

int main() {
  robot_memory::srv::Recall::Request request;
  request.has_near_place = true;
  request.near_place.frame = "map";
  request.near_place.has_position = true;
  request.near_place.position.x = 1.0;
  request.perception_type = robot_memory::srv::Recall::Request::PERCEPTION_TYPE_TACTILE;

  robot_memory::srv::Recall::Response answer;
  robot_memory::msg::Memory memory;
  memory.has_pose = true;
  memory.pose_stamped.pose.pose.position.x = 2.0;
  memory.has_created = true;
  memory.created.sec = 5;
  robot_memory::msg::Figure figure;
  figure.name = "peak_force";
  figure.value = 12.5;
  figure.unit = "N";
  memory.params_figures.push_back(figure);
  answer.memories.push_back(memory);

  const auto & first = answer.memories.front();
  std::cout << request.near_place.within << ' ' << request.perception_type << ' '
            << first.pose_stamped.pose.pose.orientation.w << ' '
            << first.params_figures.front().value << '\n';
  return 0;
}
