"""Which memory is short of a build, what is left free, and what is said where nobody knows."""

from dataclasses import replace

import pytest

from desktop.estimate import printed
from desktop.estimate.catalogue import find
from desktop.estimate.fitting import Room, place
from desktop.estimate.here import rows_here
from desktop.estimate.memory import PROCESS_BYTES, needs
from desktop.estimate.placement import ON_HOST
from desktop.estimate.sizes import weights_of
from desktop.estimate.token_work import HOST
from desktop.records.estimate import Use
from desktop.records.fits import Fit
from desktop.records.machine import Accelerator, Cpu, Device, DeviceKind, Machine
from desktop.services import estimate_tables
from desktop.services.profiles import models
from desktop.services.this_machine import devices_of
from tests.unit.test_fits import asked, here

GIB = 1 << 30
USE = Use(context=4096, depth=1024)
RULE = estimate_tables.held_back_rule()
CARDS = ("GeForce RTX 3090", "GeForce GTX 1050")


def placed(room, name="llama-3.1-8b-instruct", label="Q4_K_M", use=USE):
    model, quant = find(name, models()), find(label, estimate_tables.quants())
    return place(room, model, weights_of(model, quant), use)


def told(reason):
    return reason.code, dict(reason.params)


class TestWhatLacks:
    def test_all_memory_together(self):
        found = placed(Room(host_bytes=4 * GIB))
        code, sizes = told(found.reason)
        assert code == "estimate_fits_nowhere"
        # 90 % of it, without the engine's process
        assert sizes["usable"] == "3.5 GiB"
        assert sizes["need"] == printed.memory(found.need.total_bytes, GIB)
        assert float(sizes["need"].removesuffix(" GiB")) > 4

    def test_the_one_card_that_is_too_small(self):
        """It said that a build needs 5.0 GB of 6.1 GB usable."""
        room = Room((GIB // 4,), 64 * GIB, names=CARDS[1:], held_back=(GIB // 2,))
        code, sizes = told(placed(room).reason)
        assert code == "estimate_card_lacks"
        assert sizes["device"] == "GeForce GTX 1050"
        assert sizes["usable"] == "0.2 GiB"
        assert sizes["memory"] == "0.8 GiB"
        assert amount(sizes["need"]) > amount(sizes["usable"])

    def test_of_several_cards_the_one_that_lacks_most(self):
        room = Room((24 * GIB, GIB // 4), 64 * GIB, overhead_bytes=GIB // 2, names=CARDS)
        code, sizes = told(placed(room).reason)
        assert code == "estimate_card_lacks"
        assert sizes["device"] == "GeForce GTX 1050"
        assert amount(sizes["need"]) > amount(sizes["usable"])

    def test_the_systems_memory_beside_a_card(self):
        room = Room((2 * GIB,), round(3.8 * GIB))
        found = placed(room)
        code, sizes = told(found.reason)
        # all together would do, but whole layers do not fill the card
        assert found.need.total_bytes < room.usable_bytes
        assert code == "estimate_host_lacks"
        assert sizes["memory"] == "3.8 GiB"
        assert amount(sizes["need"]) > amount(sizes["usable"]) == 3.36
        assert amount(sizes["need"]) == pytest.approx(found.host_bytes / GIB, abs=0.01)

    def test_memory_that_both_share(self):
        code, sizes = told(placed(Room((14 * GIB,), 5 * GIB, shared=True)).reason)
        assert code == "estimate_fits_nowhere"
        assert sizes["usable"] == "4.4 GiB"

    @pytest.mark.parametrize("name", ["llama-3.1-8b-instruct", "qwen3-30b-a3b", "gemma-3-27b-it"])
    @pytest.mark.parametrize("gib", [(), (1,), (2, 1), (6, 2), (12,)])
    @pytest.mark.parametrize("host", [1, 4, 8, 16])
    def test_what_is_needed_is_always_more_than_what_there_is(self, name, gib, host):
        room = Room(tuple(size * GIB for size in gib), host * GIB, overhead_bytes=GIB // 3)
        found = placed(room, name)
        assert (found.fit is Fit.NOWHERE) == (found.reason is not None)
        if found.reason is not None:
            params = found.reason.params
            assert amount(params["need"]) > amount(params["usable"])


class TestUnknown:
    def test_how_large_the_systems_memory_is(self):
        for room in (Room(), Room((24 * GIB,))):
            found = placed(room)
            assert found.fit is Fit.RULED_OUT
            assert found.reason.code == "estimate_host_memory_unknown"
            assert found.need.total_bytes > 0

    def test_a_row_says_so_and_has_no_rate(self):
        (row,) = rows_here(here(room=Room()), [asked()], USE)
        assert row.fit is Fit.RULED_OUT
        assert row.estimate.decode is None
        assert [r.code for r in row.estimate.reasons] == ["estimate_host_memory_unknown"]

    def test_a_card_whose_memory_nobody_tells_is_left_out_and_named(self):
        found = devices_of(*machine(None, None))
        assert found.cards == ()
        assert found.room.cards == ()
        assert found.room.unknown == ("NVIDIA GeForce RTX 3090",)
        assert placed(found.room).fit is Fit.IN_MEMORY
        assert "RTX 3090" in found.room.told[0].text()
        assert found.room.told[0].code == "estimate_card_memory_unknown"

    @pytest.mark.parametrize("sizes", [(24 * GIB, None), (None, 24 * GIB)])
    def test_either_the_driver_or_the_engine_is_enough(self, sizes):
        found = devices_of(*machine(*sizes))
        assert found.room.unknown == ()
        assert placed(found.room).fit is Fit.ON_CARD

    def test_a_machine_of_unknown_memory(self):
        machine_of, listed = machine(24 * GIB, None)
        found = devices_of(replace(machine_of, ram_bytes=None), listed)
        assert found.room.host_bytes is None
        assert "estimate_host_memory_unknown" in [reason.code for reason in found.room.told]


class TestTight:
    def test_a_card_that_is_nearly_full(self):
        card = placed(Room((24 * GIB,), 64 * GIB)).card_bytes
        near, far = (
            placed(room).tight(room, "Q4_K_M")
            for room in (card_of(round(card / 0.97)), card_of(round(card / 0.93)))
        )
        assert far is None
        code, sizes = told(near)
        assert code == "estimate_tight"
        assert sizes["device"] == "GeForce RTX 3090"
        assert sizes["need"].endswith(" GiB")

    def test_the_systems_memory_that_is_nearly_full(self):
        model, quant = find("llama-3.1-8b-instruct", models()), find("Q4_K_M", quants())
        needed = needs(model, weights_of(model, quant), USE, ON_HOST)
        held = needed.host.total_bytes + PROCESS_BYTES
        rooms = [Room(host_bytes=round(held / 0.9 / full), rule=RULE) for full in (0.97, 0.93)]
        codes = [placed(room).tight(room, "Q4_K_M") for room in rooms]
        assert codes[0].code == "estimate_tight"
        assert codes[0].params["device"] == "the system's memory"
        assert codes[1] is None

    def test_a_card_that_offload_fills_is_not_called_tight(self):
        room = Room((3 * GIB,), 64 * GIB, rule=RULE)
        found = placed(room)
        assert found.fit is Fit.WITH_OFFLOAD
        assert found.tight(room, "Q4_K_M") is None

    def test_without_a_rule_nothing_is(self):
        room = replace(card_of(placed(Room((24 * GIB,), 64 * GIB)).card_bytes), rule=None)
        assert placed(room).fit is Fit.ON_CARD
        assert placed(room).tight(room, "Q4_K_M") is None

    def test_a_row_says_so(self):
        held = placed(Room(host_bytes=64 * GIB), "llama-3.2-1b-instruct").host_bytes + PROCESS_BYTES
        room = Room(host_bytes=round(held / 0.9 / 0.98), rule=RULE)
        (row,) = rows_here(here(room=room), [asked()], USE)
        assert row.fit is Fit.IN_MEMORY
        assert row.estimate.reasons[-1].code == "estimate_tight"
        assert "Q4_K_M" in row.estimate.reasons[-1].text()


class TestLimits:
    def test_what_may_be_taken_is_told(self):
        found = devices_of(*machine(24 * GIB, None)).room
        card, system = found.told
        assert told(card)[0] == "estimate_room_card"
        assert card.params["memory"] == "24 GiB"
        assert card.params["usable"] == "23.3 GiB"
        assert told(system) == (
            "estimate_room_system", {"memory": "32 GiB", "share": 90, "usable": "28.8 GiB"}
        )  # fmt: skip
        assert "90 %" in system.text()

    def test_of_shared_memory_once(self):
        room = Room((12 * GIB,), 16 * GIB, shared=True)
        assert [reason.code for reason in room.told] == ["estimate_room_system"]


def card_of(size):
    return Room((size,), 64 * GIB, names=CARDS[:1], rule=RULE)


def amount(size):
    """`5.4 GiB`, `200 MiB`."""
    number, unit = size.split()
    assert unit == "GiB"
    return float(number.replace(",", ""))


def quants():
    return estimate_tables.quants()


def machine(by_driver, by_engine):
    card = Accelerator("NVIDIA", "GeForce RTX 3090", by_driver, False, backends=("CUDA",))
    cpu = Device(HOST, "AMD EPYC", DeviceKind.CPU, "CPU")
    listed = Device("CUDA0", "NVIDIA GeForce RTX 3090", DeviceKind.GPU, "CUDA", by_engine)
    found = Machine("Linux", "6", "x86_64", Cpu("AMD EPYC", 2, 2), 32 * GIB, (card,))
    return found, (cpu, listed)
