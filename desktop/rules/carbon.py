"""Carbon: energy x the yearly average of the grid where the machine stands.

Figures of `resources/carbon/` (Ember, CC BY 4.0; US EPA eGRID, public domain). Location-based: what
the place's power stations emit on average. See docs/adr/0011-carbon-and-price.md.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from desktop.errors import GramError
from desktop.records.cost import Carbon, GridBasis, Place

GRIDS: Final = "carbon/ember_yearly.csv"
US_STATES: Final = "carbon/epa_egrid.csv"
NOT_COUNTED: Final = "Facility overhead and own solar are not counted."
EU_MEMBERS: Final = frozenset(
    {"AT", "BE", "BG", "HR", "CY", "CZ", "DK", "EE", "FI", "FR", "DE", "GR", "HU", "IE", "IT"}
    | {"LV", "LT", "LU", "MT", "NL", "PL", "PT", "RO", "SK", "SI", "ES", "SE"}
)
J_PER_KWH: Final = 3.6e6
G_KWH_PER_LB_MWH: Final = 0.45359237
"""453.59237 g in a pound, 1000 kWh in a MWh."""
_EMBER: Final = "Ember, CC BY 4.0"
_EPA: Final = "US EPA eGRID, public domain"
_WORLD, _EU = "WORLD", "EU"


@dataclass(frozen=True, slots=True)
class Grid:
    """One grid's average of one year."""

    name: str
    g_kwh: float
    year: int
    source: str


@dataclass(frozen=True, slots=True)
class CarbonTables:
    """Averages by ISO country code (and `WORLD`, `EU`), and by US state."""

    grids: Mapping[str, Grid]
    us_states: Mapping[str, Grid]


def read_tables(grids_text: str, us_states_text: str) -> CarbonTables:
    """The two tables of `resources/carbon/`.

    Of each the latest year is taken in which every area has a figure, so that places compare.

    Raises:
        GramError: `resource_damaged`.
    """
    grids = _read(GRIDS, grids_text, "g_", 1.0, _EMBER)
    if not {_WORLD, _EU} <= grids.keys():
        raise GramError("resource_damaged", name=GRIDS, detail="no row of the world, or of the EU")
    return CarbonTables(grids, _read(US_STATES, us_states_text, "lb_mwh_", G_KWH_PER_LB_MWH, _EPA))


def carbon_g(energy_j: float | None, place: Place | None, tables: CarbonTables) -> Carbon | None:
    """Grams of CO2e that `energy_j` causes at `place`; None where the energy is not known.

    Which average was used is in the answer: the US state's, the country's, the EU's where a member
    has none, else the world's.
    """
    if energy_j is None or not (math.isfinite(energy_j) and energy_j > 0):
        return None
    grid, basis = _grid(place, tables)
    grams = energy_j / J_PER_KWH * grid.g_kwh
    return Carbon(grams, grid.g_kwh, grid.year, grid.name, basis, grid.source, place)


def _grid(place: Place | None, tables: CarbonTables) -> tuple[Grid, GridBasis]:
    if place is None:
        return tables.grids[_WORLD], GridBasis.WORLD
    state = tables.us_states.get(place.us_state or "") if place.country == "US" else None
    if state is not None:
        return state, GridBasis.US_STATE
    if place.country in tables.grids:
        return tables.grids[place.country], GridBasis.COUNTRY
    if place.country in EU_MEMBERS:
        return tables.grids[_EU], GridBasis.EU_AVERAGE
    return tables.grids[_WORLD], GridBasis.WORLD


def _read(file: str, text: str, prefix: str, factor: float, source: str) -> dict[str, Grid]:
    try:
        rows = list(csv.DictReader(io.StringIO(text)))
        year = _complete_year(rows, prefix)
        column = f"{prefix}{year}"
        return {r["code"]: Grid(r["name"], _g(r, column) * factor, year, source) for r in rows}
    except (KeyError, ValueError, AttributeError, csv.Error) as e:
        raise GramError("resource_damaged", name=file, detail=str(e)) from e


def _complete_year(rows: Sequence[Mapping[str, str]], prefix: str) -> int:
    columns = [c for c in rows[0] if c.startswith(prefix)] if rows else []
    years = [int(c.removeprefix(prefix)) for c in columns if all(r[c].strip() for r in rows)]
    if not years:
        raise ValueError("no year in which every area has a figure")
    return max(years)


def _g(row: Mapping[str, str], column: str) -> float:
    value = float(row[column])
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{row['code']}: {column} is {row[column]}")
    return value
