"""The machine's page: what was found, what a build may use, the parts and their benchmark."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from desktop.errors import Reason
from desktop.records.events import Notice, PartsKnown, RunFailed
from desktop.records.machine import Search
from desktop.records.parts import PartRate, PartTest
from desktop.records.request import Signing
from desktop.records.run import Note
from desktop.rules.memory_answers import IN_MEMORY
from desktop.rules.notes import PARTS_WORDS
from desktop.ui import format as fmt
from desktop.ui.content import MACHINE
from tests.gui import demo


def plain(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def press(qtbot, window, text):
    buttons = [b for b in window.findChildren(QPushButton) if b.text() == text and b.isVisible()]
    assert len(buttons) == 1, text
    qtbot.mouseClick(buttons[0], Qt.MouseButton.LeftButton)


@pytest.fixture
def page(window):
    window.content.show_page(MACHINE)
    return window.content.machine


def test_hardware_is_told_in_words(page, services):
    services.post(demo.laptop())
    assert page.kind.text() == "NVIDIA GeForce RTX 4060 Laptop GPU"
    value = page.hardware.facts.value
    assert value("Processor") == "AMD Ryzen AI 9 HX 370 w/ Radeon 890M"
    assert value("Cores") == "12 physical, 24 logical"
    assert value("Instruction sets") == "avx2, avx512f"
    assert plain(value("Memory")) == "31 GiB, 4 \N{MULTIPLICATION SIGN} LPDDR5X 7500 MT/s"
    assert value("Power supply") == "battery, battery at 83 %"
    assert value("Heat") == "not slowed by heat, processor at 54 °C"
    assert value("Display") == "attached"
    assert page.hardware.given_up.text() == (
        "NVML (NVIDIA's driver) did not answer in time and was given up on."
    )
    assert page.hardware.given_up.isVisible()


def test_channels_of_the_memory_are_told_where_the_system_names_them(page, services):
    known = demo.laptop()
    modules = replace(known.machine.modules, channels=2)
    services.post(replace(known, machine=replace(known.machine, modules=modules)))
    said = plain(page.hardware.facts.value("Memory"))
    assert said.endswith("LPDDR5X 7500 MT/s 2 channels")


def test_what_is_not_known_is_a_dash_and_nothing_is_given_up_on(page, services):
    services.post(demo.machine_known())
    assert page.hardware.facts.value("Power supply") == fmt.DASH
    assert page.hardware.facts.value("Instruction sets") == fmt.DASH
    assert not page.hardware.given_up.isVisible()


def test_modelled_watts_are_shown_with_their_formula_and_what_they_cover(page, services):
    services.post(demo.machine_known())
    assert page.hardware.facts.value("Power is read from") == (
        "modelled (CPU load), the whole machine"
    )
    said = page.hardware.modelled.text()
    assert page.hardware.modelled.isVisible()
    # the terminal's words
    assert said == f"{demo.FORMULA.text()}\n{demo.GUEST.text()}"
    assert "14.0 W" in said
    assert "the host around it and its other guests are not counted" in said
    services.post(demo.laptop())
    assert not page.hardware.modelled.isVisible()


def test_on_the_card_and_with_offload_are_two_answers(page, services):
    services.post(demo.laptop())
    # the integrated card beside the discrete one does not count, and shares what is counted already
    assert plain(page.memory.facts.value("On the card")) == "8 GiB"
    assert plain(page.memory.facts.value("With offload")) == "39 GiB"


def test_without_a_card_there_is_one_answer_in_the_terminals_words(page, services):
    services.post(demo.laptop())
    services.post(demo.machine_known())
    memory = page.memory
    assert memory.alone.isVisible()
    assert not memory.facts.isVisible()
    assert not memory.offload.isVisible()
    assert memory.alone.value(IN_MEMORY) == fmt.memory(demo.MACHINE.ram_bytes)
    services.post(demo.laptop())
    assert memory.facts.isVisible()
    assert not memory.alone.isVisible()


def test_cards_are_rows_and_one_that_the_engine_does_not_list_is_named(page, services):
    services.post(demo.laptop())
    assert [plain(t) for t in page.cards.model.row(0)] == [
        "NVIDIA GeForce RTX 4060 Laptop GPU",
        "discrete",
        "8 GiB",
        "8 GiB",
        fmt.DASH,
        "570.133.07",
        "CUDA",
        "0000:64:00.0",
    ]
    assert page.cards.model.row(1)[1] == "integrated"
    assert "AMD Radeon 890M Graphics" in page.cards.note.text()
    services.post(demo.machine_known())
    assert page.cards.none.isVisible()
    assert not page.cards.table.isVisible()


def test_parts_that_are_kept_are_shown_with_spread_and_key(page, services):
    assert services.asked.count("parts") == 1
    services.post(demo.parts_known())
    rows = [[plain(t) for t in page.parts.model.row(i)] for i in range(3)]
    assert rows[0] == [
        "CUDA0\nTesla T4",
        "52.7\n± 0.4 %",
        "231\n± 0.6 %",
        fmt.DASH,
        fmt.DASH,
        "204\n± 0.8 %",
        fmt.DASH,
        "219\n± 0.2 %",
        "11.2\n± 2.0 %",
    ]
    assert [row[0] for row in rows] == [
        "CUDA0\nTesla T4",
        "CPU, 1 thread\nAMD EPYC 7B12",
        "CPU, 12 threads\nAMD EPYC 7B12",
    ]
    assert rows[2][2] == "64.0"
    assert "·acbe75" in page.parts.words.text()


def test_a_software_device_is_called_so(page, services):
    drawn = PartRate("Vulkan0", PartTest.COPY, None, 9e9, None, 3)
    services.post(replace(demo.parts_known(), rates=(drawn,)))
    [name, description] = page.parts.model.row(0)[0].split("\n")
    assert name == "Vulkan0 (software)"
    assert description.startswith("llvmpipe")


def test_what_has_no_figure_is_told_with_its_reason(page, services):
    services.post(demo.parts_known())
    assert page.parts.note.text().split("\n") == [
        "CUDA0: no matrix-vector, Q8_0; matrix-vector, Q6_K: not enough free memory.",
        "CUDA0: no matrix-vector, Q4_0: the device's back end cannot do it.",
        "Vulkan0: no figures: the measuring process ended or fell silent.",
    ]
    assert page.parts.note.isVisible()
    services.post(replace(demo.parts_known(), skipped=()))
    assert not page.parts.note.isVisible()


def test_rates_that_caches_may_have_helped_say_so(page, services):
    cached = (Note.CACHED,)
    rates = (
        PartRate("CPU", PartTest.MATVEC_Q4_0, 2, 30e9, 0.01, 6, 135 << 20, cached),
        PartRate("CPU", PartTest.COPY, 2, 30e9, 0.01, 6, 128 << 20, cached),
        PartRate("CPU", PartTest.MATVEC_F16, 2, 20e9, 0.01, 6, 512 << 20),
    )
    services.post(replace(demo.parts_known(), rates=rates, skipped=()))
    said = (
        "c  CPU, 2 threads: matrix-vector, Q4_0; copy, F32 read only 135 MiB: caches may have "
        "helped."
    )
    assert plain(page.parts.note.text()) == said
    shown = page.parts.model.row(0)
    assert [plain(shown[i]) for i in (2, 6)] == ["20.0\n± 1.0 %", "30.0 c\n± 1.0 %"]


def test_a_figure_to_be_read_with_care_is_marked_and_a_line_says_why(page, services):
    rates = (
        PartRate("CPU", PartTest.MATVEC_F16, 2, 20e9, 0.84, 9, 512 << 20, (Note.SPREAD,)),
        PartRate("CPU", PartTest.COPY, 2, 30e9, None, 5, 512 << 20, (Note.FEW,)),
    )
    known = replace(demo.parts_known(), rates=rates, skipped=())
    services.post(replace(known, notes=(Note.SPREAD, Note.FEW, Note.OTHER_LOAD)))
    shown = page.parts.model.row(0)
    assert [plain(shown[i]) for i in (2, 7)] == ["20.0 !\n± 84.0 %", "30.0 ?"]
    said = page.parts.note.text().split("\n")
    assert said == [
        f"!  {PARTS_WORDS[Note.SPREAD]}",
        f"?  {PARTS_WORDS[Note.FEW]}",
        PARTS_WORDS[Note.OTHER_LOAD],
    ]
    services.post(replace(demo.parts_known(), skipped=()))
    assert not page.parts.note.isVisible()


def test_notes_of_what_was_just_measured_stand_there(page, services):
    page.measure()
    done = demo.parts_finished()
    busy = replace(done.parts.after, other_load_percent=62.0)
    services.post(replace(done, parts=replace(done.parts, after=busy)))
    assert PARTS_WORDS[Note.OTHER_LOAD] in page.parts.note.text()


def test_each_step_of_measuring_the_parts_is_shown(page, services):
    page.measure()
    assert page.parts.progress.words == "Starting"
    preparing, loading, devices, running = demo.parts_begin()
    services.post(preparing, loading)
    assert page.parts.progress.words == "Starting the engine"
    services.post(devices, running)
    assert page.parts.progress.words == "CUDA0: product, F16 (3 of 19) about 35 s left"
    first, second = demo.some_parts()[:2]
    services.post(first)
    assert page.parts.model.row(0)[0] == "CUDA0\nTesla T4"
    assert "CUDA0: product, F16 (3 of 19) · 1 figure so far" in page.parts.progress.words
    services.post(second)
    assert "2 figures so far" in page.parts.progress.words
    services.post(demo.part_missed())
    assert page.parts.note.text() == "CUDA0: no matrix-vector, Q8_0: not enough free memory."
    services.post(demo.parts_finished())
    assert page.parts.note.text().count("\n") == 2


def test_measuring_the_parts(qtbot, page, services, window):
    qtbot.mouseClick(page.parts.button, Qt.MouseButton.LeftButton)
    assert services.asked.count("start") == 1
    assert page.parts.button.text() == "Stop"
    # one measurement at a time
    assert not window.content.measure.run.button.isEnabled()
    window.content.measure_now()
    assert services.requests == []
    services.post(*demo.some_parts())
    assert page.parts.model.rowCount() == 1
    services.post(demo.parts_finished())
    assert page.parts.button.text() == "Measure the parts"
    assert page.parts.model.rowCount() == 3
    assert "signed ·acbe75" in page.parts.words.text()
    assert window.content.measure.run.button.isEnabled()


def test_parts_that_are_not_signed_say_so(page, services):
    page.measure()
    services.post(demo.parts_finished(signed=False))
    assert "not signed" in page.parts.words.text()


def test_stopping_the_parts_shows_what_was_kept_before(qtbot, page, services, window):
    page.measure()
    qtbot.mouseClick(page.parts.button, Qt.MouseButton.LeftButton)
    assert services.asked.count("stop") == 1
    assert not page.parts.button.isEnabled()
    services.post(RunFailed(Reason("cancelled"), cancelled=True))
    assert services.asked.count("parts") == 2
    services.post(demo.parts_known())
    assert page.parts.model.rowCount() == 3
    assert "Stopped" in page.error.text
    # the other page heard nothing of it
    assert window.content.measure.error.text == ""


def test_a_failure_of_the_parts_is_told_here(page, services):
    page.measure()
    services.post(Notice(Reason("waiting", {"holder": "a terminal"})))
    assert "a terminal" in page.error.text
    services.post(RunFailed(demo.no_keychain()))
    assert "no keychain" in page.error.text
    assert page.parts.button.text() == "Measure the parts"


def test_without_a_keychain_there_are_two_other_ways(qtbot, page, services, window):
    page.measure()
    services.post(RunFailed(demo.no_keychain()))
    services.asked.append("stop")  # the fake counts starts and stops
    press(qtbot, window, "Keep the key in a file")
    assert services.parts_requests[-1].signing is Signing.KEY_FILE
    # the other page signs the same way from now on
    services.post(demo.parts_finished())
    services.asked.append("stop")
    window.content.measure_now()
    assert services.requests[-1].signing is Signing.KEY_FILE


def test_while_another_measures_the_parts_can_wait_for_it(qtbot, page, services, window):
    page.measure()
    services.post(RunFailed(Reason("busy", {"holder": "a terminal"})))
    services.asked.append("stop")
    press(qtbot, window, "Measure after it")
    assert services.parts_requests[-1].wait


def test_without_parts_the_page_says_what_they_are(page, services):
    services.post(PartsKnown())
    assert "Not measured yet" in page.parts.words.text()
    assert not page.parts.table.isVisible()


def test_price_and_carbon_that_come_while_parts_are_measured_reach_their_page(
    page, services, window
):
    services.post(demo.finished())
    page.measure()
    services.post(demo.costs_known())
    assert window.content.measure.result.facts.value("Price").startswith("$0.985")


def test_before_the_engine_has_answered_nothing_is_said_of_its_list(page, services):
    early = replace(demo.laptop(), engine=None, engine_awaited=True)
    services.post(early)
    assert page.system.text() == "Asking the engine …"
    assert page.kind.text() == "NVIDIA GeForce RTX 4060 Laptop GPU"
    assert not page.cards.note.isVisible()
    services.post(replace(early, engine_awaited=False))
    assert page.system.text() == "The engine could not be loaded"
    assert not page.cards.note.isVisible()


def test_during_a_run_the_parts_wait(page, window):
    window.content.measure_now()
    assert not page.parts.button.isEnabled()


def test_cards_that_are_unknown_are_not_called_none(page, window, services):
    known = demo.machine_known()
    services.post(known)
    assert "No card that computes was found" in page.cards.none.text()
    overview = window.content.measure.machine.facts
    assert overview.value("Cards") == "none found"
    unknown = replace(known.machine, unknown=(Search.CARDS,))
    services.post(replace(known, machine=unknown))
    assert page.cards.none.text().startswith("The search for cards gave no answer")
    assert overview.value("Cards") == "unknown"
    laptop = demo.laptop()
    services.post(replace(laptop, machine=replace(laptop.machine, unknown=(Search.CARDS,))))
    assert page.cards.none.isVisible()
    assert page.cards.table.isVisible()
    assert overview.value("Cards").endswith("\nothers unknown")
    services.post(laptop)
    assert not page.cards.none.isVisible()
