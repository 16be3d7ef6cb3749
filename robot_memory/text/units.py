"""Units of mass and length: how much each is, and what texts call it, English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Measure(NamedTuple):
    """Hold how many kilograms or metres a unit is, and its names in folded text."""

    factor: float
    names: str

    def list_names(self) -> list[str]:
        """Return the names, the symbol first."""
        return self.names.split()


MASSES = {
    'mg': Measure(1e-6, 'mg milligram milligrams milligramme milligrammes 毫克'),
    'g': Measure(1e-3, 'g gram grams gramme grammes 克'),
    'kg': Measure(1.0, 'kg kgs kilogram kilograms kilogramme kilogrammes kilo kilos 公斤 千克'),
    't': Measure(1e3, 't tonne tonnes ton tons 吨'),
    'lb': Measure(0.453_592_37, 'lb lbs pound pounds 磅'),
    'oz': Measure(0.028_349_523_125, 'oz ounce ounces 盎司'),
    'jin': Measure(0.5, 'jin 斤'),
}
"""By the symbol, in kilograms."""

LENGTHS = {
    'um': Measure(1e-6, 'um micron microns micrometre micrometres micrometer micrometers 微米'),
    'mm': Measure(1e-3, 'mm millimetre millimetres millimeter millimeters 毫米 公厘'),
    'cm': Measure(1e-2, 'cm centimetre centimetres centimeter centimeters 厘米 公分'),
    'm': Measure(1.0, 'm metre metres meter meters 米 公尺'),
    'km': Measure(1e3, 'km kilometre kilometres kilometer kilometers 公里 千米'),
    'in': Measure(0.0254, 'inch inches 英寸'),
    'ft': Measure(0.3048, 'ft foot feet 英尺'),
    'yd': Measure(0.9144, 'yd yds yard yards'),
    'mi': Measure(1609.344, 'mi mile miles 英里'),
}
"""By the symbol, in metres. Of inches the symbol is no name: 'put 6 in the box'."""


def name_units(table: Mapping[str, Measure]) -> dict[str, str]:
    """Return the symbol of a unit by each of its names."""
    return {name: symbol for symbol, one in table.items() for name in one.list_names()}
