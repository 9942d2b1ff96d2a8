"""Carbon: which grid's average, of which year, and figures computed by hand."""

import pytest

from desktop import resources
from desktop.errors import GramError
from desktop.records.cost import GridBasis, Place
from desktop.rules.carbon import (
    EU_MEMBERS,
    GRIDS,
    US_STATES,
    carbon_g,
    read_tables,
)

KWH_J = 3.6e6
TABLES = read_tables(resources.text(GRIDS), resources.text(US_STATES))
STATES = "code,name,lb_mwh_2023\nCA,California,394.769\n"
HEAD = "code,name,g_2023,g_2024,g_2025\n"
SMALL = read_tables(HEAD + "WORLD,World,485,473,460\nEU,European Union,,213,\n", STATES)


def at(place, tables=TABLES, energy_j=KWH_J):
    return carbon_g(energy_j, place, tables)


def test_a_country_with_a_row():
    carbon = at(Place("NL"))
    assert carbon.co2e_g == pytest.approx(250.8)
    assert (carbon.grid, carbon.year, carbon.basis) == ("Netherlands", 2024, GridBasis.COUNTRY)
    assert carbon.source == "Ember, CC BY 4.0"


def test_a_us_state_has_the_epas_figure_of_its_own_year():
    carbon = at(Place("US", "CA"))
    # 394.769 lb/MWh x 453.59237 g / 1000 kWh
    assert carbon.co2e_g == pytest.approx(179.0642, abs=1e-3)
    assert (carbon.grid, carbon.year, carbon.basis) == ("California", 2023, GridBasis.US_STATE)
    assert carbon.source.startswith("US EPA")


def test_the_united_states_without_a_state():
    carbon = at(Place("US"))
    assert (carbon.intensity_g_kwh, carbon.basis) == (383.8, GridBasis.COUNTRY)


def test_a_country_named_like_a_state_is_the_country():
    assert at(Place("CA")).grid == "Canada"
    assert at(Place("NA")).grid == "Namibia"


def test_a_member_of_the_eu_without_a_row_has_the_eus_average():
    carbon = at(Place("NL"), SMALL)
    assert (carbon.co2e_g, carbon.basis) == (213.0, GridBasis.EU_AVERAGE)
    assert carbon.place == Place("NL")


def test_without_a_place_it_is_the_worlds_average_and_says_so():
    carbon = at(None)
    assert (carbon.co2e_g, carbon.basis, carbon.year) == (473.0, GridBasis.WORLD, 2024)
    assert carbon.place is None


def test_a_country_without_a_row_has_the_worlds_average_and_is_named():
    carbon = at(Place("UA"))
    assert (carbon.basis, carbon.intensity_g_kwh) == (GridBasis.WORLD, 473.0)
    assert carbon.place == Place("UA")


def test_a_million_tokens_of_half_a_joule():
    # 0.5 MJ = 0.138889 kWh, x 473 g
    assert at(None, energy_j=0.5e6).co2e_g == pytest.approx(65.6944, abs=1e-3)


@pytest.mark.parametrize("energy_j", [None, 0.0, -1.0, float("nan"), float("inf")])
def test_without_energy_there_is_nothing_rather_than_zero(energy_j):
    assert at(Place("NL"), energy_j=energy_j) is None


def test_what_ships_is_whole():
    assert len(EU_MEMBERS) == 27
    assert TABLES.grids.keys() >= EU_MEMBERS
    assert len(TABLES.grids) == 195
    assert len(TABLES.us_states) == 51
    assert {g.year for g in TABLES.grids.values()} == {2024}
    assert max(g.g_kwh for g in TABLES.grids.values()) < 1400
    assert TABLES.grids["EU"].g_kwh == 213.0


def test_the_latest_year_that_every_area_has_is_taken():
    grids = read_tables(HEAD + "WORLD,World,1,2,3\nEU,European Union,4,5,6\n", STATES).grids
    assert (grids["WORLD"].year, grids["WORLD"].g_kwh) == (2025, 3.0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEAD,
        HEAD + "WORLD,World,1,2,3\n",  # no EU
        HEAD + "WORLD,World,1,2,\nEU,European Union,,,3\n",  # no year in common
        HEAD + "WORLD,World,1,2,-3\nEU,European Union,1,2,3\n",
        HEAD + "WORLD,World,1,2,many\nEU,European Union,1,2,3\n",
        HEAD + "WORLD,World,1,2,nan\nEU,European Union,1,2,3\n",
        HEAD + "WORLD,World\nEU,European Union,1,2,3\n",
    ],
)
def test_a_damaged_table_is_named(text):
    with pytest.raises(GramError) as caught:
        read_tables(text, STATES)
    assert caught.value.code == "resource_damaged"
    assert caught.value.reason.params["name"] == GRIDS
