"""Price: hand-computed rates, and which input is missing."""

from dataclasses import replace

import pytest

from desktop.cli.costs import lines, plain
from desktop.errors import GramError, Reason
from desktop.records.build import Build
from desktop.records.cost import Costs, GridBasis, HourlyRate, Price, RateBasis
from desktop.records.energy import Energy, MeterFacts, MeterKind, Scope, Source
from desktop.records.machine import Accelerator, Conditions, Cpu, Machine
from desktop.records.run import EngineFacts, MemoryHeld, Plan, Repetition, Run
from desktop.rules.catalogue import CatalogueDevice
from desktop.rules.device_names import words_of
from desktop.rules.price import (
    DEAREST,
    RENT_ALONE,
    WHOLE_ALONE,
    Draw,
    HardwarePrice,
    catalogue_draw,
    catalogue_price,
    price_usd_per_mtok,
    rate_card,
    rented_rate,
)
from desktop.rules.rates import rate_of
from desktop.services.costs import costs_of
from desktop.settings import Settings

GIB = 2**30
RTX_3090 = Accelerator("NVIDIA", "NVIDIA GeForce RTX 3090", 24 * GIB, integrated=False)
IGPU = Accelerator("AMD", "AMD Radeon Graphics", 16 * GIB, integrated=True)
METER = MeterFacts("NVML", Source.SENSOR, MeterKind.COUNTER, Scope.BOARD)


def device(name, price_usd=None, power_w=None):
    return CatalogueDevice(
        name, "NVIDIA", 24.0, None, None, power_w, price_usd, 2020, "x", words=(words_of(name),)
    )


def machine(*cards):
    return Machine(
        "Linux", "Debian 12", "x86_64", Cpu("AMD Ryzen 9 7950X", 16, 32), 64 * GIB, cards
    )


def run(*cards, energy_j=600.0, covered=0.5, tests=("pp512", "tg128")):
    """Generation: 6 x 128 tokens in 2 s each (64 tok/s); 600 J over half of the time: 100 W."""
    repetitions = tuple(
        Repetition(test, False, i * 10**10, i * 10**10 + 2 * 10**9, int(test[2:]))
        for test in tests
        for i in range(6)
    )
    rates = tuple(r for r in (rate_of(t, repetitions) for t in tests) if r is not None)
    now = Conditions(None, None, None, None, None, None)
    return Run(
        build=Build("a.gguf", "0" * 64, 1, "llama", None, None, 1, None),
        machine=machine(*cards),
        engine=EngineFacts("llama.cpp", "b1", "CUDA", (), 16, None, -1),
        plan=Plan(),
        repetitions=repetitions,
        rates=rates,
        memory=MemoryHeld(None, None, None, None),
        energy=(("tg128", Energy(energy_j, covered, None, METER)),) if energy_j else (),
        before=now,
        after=now,
        started_at="2026-01-01T00:00:00Z",
    )


def test_a_rented_machine_costs_what_is_paid():
    rate = rented_rate(0.36)
    assert rate == HourlyRate(0.36, RateBasis.RENTED)
    # 100 tok/s are 360,000 tokens an hour
    assert price_usd_per_mtok(rate, 100.0) == pytest.approx(1.0)


def test_a_rented_machine_without_its_rent_has_no_price():
    assert rented_rate(None) == Reason("price_rent_missing")


def test_the_rate_card_by_hand():
    rate = rate_card(HardwarePrice(1500, "RTX 3090"), Draw(350, "catalogue"), 0.30)
    # 1500 / 13140 h = 0.114155; 0.35 kW x 0.30 = 0.105
    assert rate.usd_h == pytest.approx(0.2191553, abs=1e-7)
    assert rate.card.hardware_usd_h == pytest.approx(0.1141553, abs=1e-7)
    assert rate.card.electricity_usd_h == pytest.approx(0.105)
    assert rate.basis is RateBasis.RATE_CARD_DEFAULT
    assert price_usd_per_mtok(rate, 100.0) == pytest.approx(0.608765, abs=1e-6)


def test_the_owners_own_price_is_no_default():
    assert rate_card(HardwarePrice(800), Draw(100, "x"), 0.2).basis is RateBasis.OWNED


def test_no_tariff_is_invented():
    price = HardwarePrice(1500, "RTX 3090")
    assert rate_card(price, Draw(350, "x"), None) == Reason("price_tariff_missing")
    assert rate_card(price, None, 0.3) == Reason("price_watts_missing")
    missing = Reason("price_hardware_missing", {"name": "x"})
    assert rate_card(missing, Draw(350, "x"), 0.3) == missing


@pytest.mark.parametrize("tok_s", [0.0, -1.0, float("nan"), float("inf")])
def test_bad_speeds(tok_s):
    with pytest.raises(GramError) as caught:
        price_usd_per_mtok(HourlyRate(1.0, RateBasis.RENTED), tok_s)
    assert caught.value.code == "bad_number"


@pytest.mark.parametrize(
    ("usd_h", "tok_s"), [(float("nan"), 1.0), (float("inf"), 1.0), (1.0, 5e-324)]
)
def test_a_price_that_is_no_number_is_none(usd_h, tok_s):
    assert price_usd_per_mtok(HourlyRate(usd_h, RateBasis.OWNED), tok_s) is None


def test_an_hour_for_nothing_costs_zero_without_a_sign():
    assert str(price_usd_per_mtok(HourlyRate(-0.0, RateBasis.OWNED), 1.0)) == "0.0"


def test_all_cards_are_added_and_an_integrated_one_beside_them_is_not():
    devices = (device("RTX 3090", 1500, 350),)
    two = machine(RTX_3090, IGPU, RTX_3090)
    assert catalogue_price(two, devices).usd == 3000
    assert catalogue_draw(two, devices) == Draw(700, "catalogue")


def test_a_chip_that_is_sold_in_computers_has_the_dearest_ones_price_and_it_is_said():
    m4 = Accelerator("Apple", "Apple M4", None, integrated=True, gpu_cores=10)
    devices = (replace(device("Apple M4", 1600, 30), vendor="Apple", memory_gib=None),)
    price = catalogue_price(machine(m4), devices)
    assert price == HardwarePrice(1600, "Apple M4", dearest=True)
    rate = rate_card(price, Draw(30, "catalogue"), 0.3)
    costs = Costs(Price(0.5, rate), None, None, None, None)
    assert lines(costs)[0][1].endswith(f". {DEAREST}")
    assert plain(costs)["price"]["rate"]["card"]["dearest"] is True
    # a card is sold alone, and its owner's own price is exact
    card = catalogue_price(machine(RTX_3090), (device("RTX 3090", 1500, 350),))
    own = HardwarePrice(800)
    for exact in (card, own):
        known = rate_card(exact, Draw(30, "x"), 0.3)
        assert not known.card.dearest
        assert DEAREST not in lines(Costs(Price(0.5, known), None, None, None, None))[0][1]


def test_one_unknown_card_makes_the_whole_unknown_and_is_named():
    devices = (device("RTX 3090", 1500, 350),)
    odd = Accelerator("NVIDIA", "NVIDIA GeForce RTX 9999", 24 * GIB, integrated=False)
    missing = catalogue_price(machine(RTX_3090, odd), devices)
    assert missing == Reason("price_hardware_missing", {"name": "NVIDIA GeForce RTX 9999"})
    assert catalogue_draw(machine(RTX_3090, odd), devices) is None


def test_a_processor_has_no_price_in_the_catalogue():
    assert catalogue_price(machine(), ()).params["name"] == "AMD Ryzen 9 7950X"
    assert catalogue_draw(machine(), ()) is None


def test_costs_of_a_run_with_the_catalogues_price_and_the_measured_watts():
    costs = costs_of(run(RTX_3090), Settings(place="NL", tariff_usd_kwh=0.30))
    # 1500 / 13140 + 0.1 kW x 0.30 = 0.1441553 an hour; 230,400 tokens an hour
    assert costs.price.usd_per_mtok == pytest.approx(0.625674, abs=1e-6)
    assert costs.price.rate.basis is RateBasis.RATE_CARD_DEFAULT
    assert costs.price.rate.card.watts_from == "sensor (NVML)"
    # 1200 J / 768 tokens = 1.5625 J; 1.5625 MJ = 0.4340278 kWh x 250.8
    assert costs.carbon.co2e_g == pytest.approx(108.8542, abs=1e-3)
    assert costs.carbon.basis is GridBasis.COUNTRY
    assert costs.price_missing is None
    assert costs.carbon_missing is None


def test_without_energy_the_catalogues_watts_are_taken_and_there_is_no_carbon():
    costs = costs_of(run(RTX_3090, energy_j=None), Settings(tariff_usd_kwh=0.30))
    assert costs.price.rate.card.watts_from == "catalogue"
    assert costs.price.rate.card.watts_w == 350
    assert costs.carbon is None
    assert costs.carbon_missing == Reason("no_energy")


@pytest.mark.parametrize("covered", [0.0])
def test_energy_that_covers_nothing_is_no_energy(covered):
    costs = costs_of(run(covered=covered), Settings(hardware_price_usd=500, tariff_usd_kwh=0.3))
    assert costs.carbon is None
    assert costs.price_missing == Reason("price_watts_missing")


@pytest.mark.parametrize(
    ("settings", "basis", "usd_h"),
    [
        (Settings(rented=True, hourly_rate_usd=0.5), RateBasis.RENTED, 0.5),
        (Settings(hourly_rate_usd=0.25), RateBasis.OWNED, 0.25),
        (Settings(hardware_price_usd=1314, tariff_usd_kwh=0.5), RateBasis.OWNED, 0.15),
    ],
)
def test_what_the_owner_set_comes_first(settings, basis, usd_h):
    rate = costs_of(run(RTX_3090), settings).price.rate
    assert rate.basis is basis
    assert rate.usd_h == pytest.approx(usd_h)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        (Settings(), "price_tariff_missing"),
        (Settings(rented=True), "price_rent_missing"),
        (Settings(rented=True, tariff_usd_kwh=0.3), "price_rent_missing"),
    ],
)
def test_what_is_missing_is_named(settings, code):
    costs = costs_of(run(RTX_3090), settings)
    assert costs.price is None
    assert costs.price_missing.code == code


@pytest.mark.parametrize(
    ("settings", "left_out"),
    [
        (
            Settings(rented=True, hourly_rate_usd=0.5, tariff_usd_kwh=0.3, hardware_price_usd=9),
            RENT_ALONE,
        ),
        (Settings(hourly_rate_usd=0.25, tariff_usd_kwh=0.3), WHOLE_ALONE),
        (Settings(hardware_price_usd=1314, tariff_usd_kwh=0.5), None),
    ],
)
def test_what_a_price_leaves_out_is_named(settings, left_out):
    costs = costs_of(run(RTX_3090), settings)
    assert plain(costs)["price_not_counted"] == left_out
    (_, said), _ = lines(costs)
    assert said.endswith(left_out or "$0.0500")


def test_without_a_price_nothing_is_left_out():
    assert plain(costs_of(run(RTX_3090), Settings()))["price_not_counted"] is None


def test_grams_for_programs_name_what_they_are_of():
    said = plain(costs_of(run(RTX_3090), Settings(place="NL")))["carbon"]
    assert said["co2e_g_per_mtok"] == pytest.approx(108.8542, abs=1e-3)
    assert said["grid"] == "Netherlands"


def test_a_run_without_generation_has_no_costs():
    costs = costs_of(run(tests=("pp512",)), Settings(hourly_rate_usd=1.0))
    assert costs.price_missing == costs.carbon_missing == Reason("no_generation")


def test_the_terminal_says_where_each_figure_comes_from():
    costs = costs_of(run(RTX_3090), Settings(tariff_usd_kwh=0.30))
    price, carbon = (text for _, text in lines(costs))
    assert price.startswith("$0.626 per million tokens; derived: $0.144 an hour, default rate card")
    assert (
        "catalogue price of NVIDIA GeForce RTX 3090, $1,500 over three years at half use" in price
    )
    assert "100 W, sensor (NVML), at $0.3/kWh" in price
    assert carbon.startswith(
        "205 g CO2e per million tokens; derived: energy, sensor (NVML), at 473"
    )
    assert "2024 world average, as the place is not set (Ember, CC BY 4.0)" in carbon
    assert carbon.endswith("Facility overhead and own solar are not counted.")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("NL", "2024 average of Netherlands"),
        ("US-CA", "2023 average of California"),
        ("UA", "2024 world average, as there is none of UA"),
    ],
)
def test_the_terminal_names_the_grid(place, said):
    _, (_, carbon) = lines(costs_of(run(), Settings(place=place)))
    assert said in carbon


def test_the_terminal_says_what_is_missing_after_a_dash():
    costs = costs_of(run(energy_j=None), Settings(tariff_usd_kwh=0.3))
    (_, price), (_, carbon) = lines(costs)
    assert price.startswith("— The catalogue has no price of AMD Ryzen 9 7950X.")
    assert carbon.startswith("— The energy of this run is not known.")
    said = plain(costs)
    assert said["price"] is None
    assert said["price_missing"]["code"] == "price_hardware_missing"
    assert said["not_counted"].startswith("Facility overhead")


def test_programs_get_the_parts_too():
    said = plain(costs_of(run(RTX_3090), Settings(place="NL", hourly_rate_usd=0.2304)))
    assert said["price"]["usd_per_mtok"] == pytest.approx(1.0)
    assert said["price"]["rate"] == {"usd_h": 0.2304, "basis": "owned", "card": None}
    assert said["carbon"]["grid"] == "Netherlands"
    assert said["carbon"]["place"] == {"country": "NL", "us_state": None}
    assert said["energy_from"]["source"] == "sensor"


def test_a_price_of_nothing_is_a_price():
    costs = costs_of(run(), Settings(rented=True, hourly_rate_usd=0.0))
    assert costs.price == Price(0.0, replace(rented_rate(0.0)))


def test_the_result_of_a_run_shows_both(capsys):
    from desktop.cli import show
    from desktop.records.events import RunFinished

    done = RunFinished(run(RTX_3090), None, None)
    show.run_finished(done, costs_of(done.run, Settings(place="NL", tariff_usd_kwh=0.3)))
    out = capsys.readouterr().out
    assert "Price (generation)" in out
    assert "$0.626 per million tokens" in out
    assert "109 g CO2e per million tokens" in out
