"""Builds the part that needs no ROS; the metadata is in setup.cfg, the version in package.xml."""

from pathlib import Path
from xml.etree import ElementTree

from setuptools import setup

package = ElementTree.parse(Path(__file__).with_name('package.xml')).getroot()
setup(version=package.findtext('version'))
