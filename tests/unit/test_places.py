"""The place that a person means who names it in words."""

import pytest

from desktop.cli import main
from desktop.rules.places import MOST, MeantPlace, places_meant
from desktop.services.costs import carbon_tables


def codes(said):
    return [place.code for place in places_meant(said, carbon_tables())]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Germany", ["DE"]),
        ("germny", ["DE"]),
        ("uk", ["GB"]),
        ("U.K.", ["GB"]),
        ("USA", ["US"]),
        ("U.S.A.", ["US"]),
        ("The Netherlands", ["NL"]),
        ("netherl", ["NL"]),
        ("turkey", ["TR"]),
        ("TÜRKIYE", ["TR"]),
        ("Côte d’Ivoire", ["CI"]),  # noqa: RUF001 - as it is written there
        ("california", ["US-CA"]),
        ("US-California", ["US-CA"]),
        ("Georgia", ["GE", "US-GA"]),
        # two are called so, and a longer name of another country is not that one
        ("congo", ["CG", "CD"]),
        ("niger", ["NE"]),
        # the closest first, whatever the tables' order is
        ("Irland", ["IE", "IR"]),
        ("Nigera", ["NG", "NE"]),
        ("Malavi", ["MW", "ML"]),
    ],
)
def test_names_mean_codes(said, meant):
    assert codes(said) == meant


@pytest.mark.parametrize(
    "said", ["", "-", "x", "zz", "US-", "US-ZZ", "NL-NH", "Atlantis", "EU", "模"]
)
def test_what_is_like_no_name_means_nothing(said):
    assert codes(said) == []


def test_every_name_of_the_tables_means_its_place():
    tables = carbon_tables()
    for code, grid in tables.grids.items():
        assert (code in codes(grid.name)) is (code not in {"WORLD", "EU"})
    for code, grid in tables.us_states.items():
        assert f"US-{code}" in codes(grid.name)


def test_no_more_are_suggested_than_can_be_read():
    assert len(codes("new")) == MOST
    assert places_meant("united", carbon_tables())[2] == MeantPlace("US", "United States")


def test_the_door_suggests_the_code_and_sets_nothing(home, capsys):
    assert main(["settings", "place", "germany"]) == 1
    said = capsys.readouterr().err
    assert "germany is no code of a place." in said
    assert "Did you mean DE (Germany)? Set it so: `gram settings place DE`." in said
    assert not home.settings.exists()


def test_the_door_says_how_codes_look_where_it_knows_no_such_place(home, capsys):
    assert main(["settings", "place", "Atlantis"]) == 1
    assert "Give a country's two letters (NL, GB: ISO 3166)" in capsys.readouterr().err
