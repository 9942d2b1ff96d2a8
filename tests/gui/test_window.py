"""The main job in the window: press, watch, stop, result, errors."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from desktop.errors import Reason
from desktop.records.cost import Costs
from desktop.records.events import CallFailed, CostsKnown, Notice, RunFailed
from desktop.records.request import REFERENCE, RunRequest, Signing
from desktop.records.run import Note
from desktop.rules.price import DEAREST
from desktop.ui import format as fmt
from desktop.ui.content import BUILDS, FITS, MACHINE, MEASURE, RESULTS
from desktop.ui.main_window import MainWindow
from tests.gui import demo

ROOT = Path(__file__).resolve().parents[2]


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def press(qtbot, window, text: str) -> None:
    buttons = [b for b in window.findChildren(QPushButton) if b.text() == text and b.isVisible()]
    assert len(buttons) == 1, text
    qtbot.mouseClick(buttons[0], Qt.MouseButton.LeftButton)


def test_asks_for_machine_and_results_once_painted(window, services):
    assert services.asked == ["machine", "parts", "results"]


def test_shows_the_machine(window, services):
    services.post(demo.machine_known())
    card = window.content.measure.machine
    assert card.title.text() == "Linux, CPU only · 4 CPUs"
    assert card.facts.value("Processor").startswith("Intel")
    assert card.facts.value("Cores") == "2, 4 threads"
    assert card.facts.value("Engine") == "llama.cpp b5123, Vulkan (software), CPU"
    assert card.facts.value("Power") == "modelled (CPU load), the whole machine"


def test_the_button_measures_the_reference_build(qtbot, window, services):
    press(qtbot, window, "Measure this machine")
    assert services.requests == [RunRequest(build=REFERENCE, signing=Signing.KEYCHAIN)]
    assert window.content.measure.run.button.text() == "Stop"


def test_a_build_that_another_program_keeps_is_measured_under_its_name(window, services):
    window.content.measure.measure_build("/models/blobs/sha256-0123", "llama3.2:1b")
    [request] = services.requests
    assert (request.build, request.called) == ("/models/blobs/sha256-0123", "llama3.2:1b")
    assert "sha256" not in window.content.measure.build.title.text()


def test_a_second_press_of_the_key_starts_no_second_run(qtbot, window, services):
    qtbot.keyClick(window, Qt.Key.Key_F5)
    qtbot.keyClick(window, Qt.Key.Key_F5)
    assert len(services.requests) == 1


def test_progress_and_live_figures(window, services):
    window.content.measure.measure()
    services.shown = demo.curves()
    services.post(*demo.during())
    window.content.measure.live.refresh()
    assert plain(window.content.measure.run.progress.words) == (
        "Measuring generation speed about 40 s left"
    )
    said = plain(window.content.measure.live.generation.text())
    assert said.startswith("Generation: 49.3 tok/s")
    assert "± 2.1 % · 9 repetitions" in said
    assert "generation" in window.content.measure.live.graph.accessibleDescription()


def test_the_watts_of_a_meter_that_fell_silent_are_not_shown_as_those_of_now(window, services):
    window.content.measure.measure()
    whole, live = demo.curves(), window.content.measure.live
    services.post(*demo.during())
    services.shown = whole
    live.refresh()
    assert plain(live.power.text()).startswith(f"Power: {fmt.number(whole.power[-1][1])} W")
    services.shown = replace(whole, power=whole.power[:-8])
    live.refresh()
    assert plain(live.power.text()).startswith("Power: not known")


def test_price_and_carbon_are_derived_and_say_from_what(window, services):
    services.post(demo.finished())
    assert services.asked.count("costs") == 1
    value = window.content.measure.result.facts.value
    assert value("Price") == value("Carbon") == fmt.DASH
    services.post(demo.costs_known())
    assert value("Price").startswith("$0.985 per million generated tokens; derived from $0.171")
    assert value("Price").endswith("an hour (default rate card)")
    carbon = plain(value("Carbon"))
    assert carbon.startswith("93.5 g CO2e per million generated tokens; derived from energy, mod")
    assert "2024 world average" in carbon
    assert "own solar power are not counted" in carbon


def test_a_price_by_the_dearest_computer_says_so(window, services):
    costs = demo.costs_known().costs
    rate = costs.price.rate
    dearest = replace(rate, card=replace(rate.card, dearest=True))
    services.post(demo.finished())
    services.post(CostsKnown(replace(costs, price=replace(costs.price, rate=dearest))))
    price = window.content.measure.result.facts.value("Price")
    assert price.endswith(f"an hour (default rate card). {DEAREST}")


def test_an_unknown_price_says_which_figure_is_missing(window, services):
    services.post(demo.finished())
    reasons = Reason("price_tariff_missing"), Reason("no_energy")
    services.post(CostsKnown(Costs(None, reasons[0], None, reasons[1], None)))
    value = window.content.measure.result.facts.value
    assert value("Price").startswith(f"{fmt.DASH} The price of electricity is not set.")
    assert value("Carbon").startswith(f"{fmt.DASH} The energy of this run is not known.")


def test_result_is_shown_signed(window, services):
    window.content.measure.measure()
    services.post(demo.finished())
    result = window.content.measure.result
    assert result.isVisible()
    assert result.badge.text() == "signed ·acbe75"
    assert plain(result.generation.text()) == "Generation: 48.3 tok/s, ± 1.2 % · 12 repetitions"
    assert plain(result.prompt.text()) == "Prompt: 312 tok/s, ± 0.9 % · 6 repetitions"
    assert plain(result.energy.text()).startswith("Energy: 0.712 J/token, modelled (CPU load)")
    assert plain(result.facts.value("Peak")) == "generation 49.9 tok/s, prompt 319 tok/s"
    assert "Energy is modelled" in result.notes.text()
    assert result.modelled.isVisible()
    assert result.modelled.text() == f"{demo.FORMULA.text()}\n{demo.GUEST.text()}"
    assert window.content.measure.run.button.text() == "Measure this machine"
    assert services.asked[-1] == "results"


def test_unsigned_result_says_so_and_asks_for_no_ledger(window, services):
    window.content.measure.measure()
    services.post(demo.finished(signed=False))
    assert window.content.measure.result.badge.text() == "not signed"
    assert services.asked[-1] == "costs"
    assert services.asked.count("results") == 1


def test_stop(qtbot, window, services):
    press(qtbot, window, "Measure this machine")
    press(qtbot, window, "Stop")
    assert services.asked[-1] == "stop"
    assert not window.content.measure.run.button.isEnabled()
    services.post(RunFailed(Reason("cancelled"), cancelled=True))
    assert window.content.measure.run.button.isEnabled()
    assert window.content.measure.run.button.text() == "Measure this machine"
    assert window.content.measure.error.text == "Stopped. Nothing of the stopped run was kept."


def test_an_error_never_hides_an_earlier_result(window, services):
    window.content.measure.measure()
    services.post(demo.finished())
    window.content.measure.measure()
    services.post(RunFailed(Reason("worker_crashed", {"outcome": "signal 9"})))
    assert "signal 9" in window.content.measure.error.text
    assert window.content.measure.result.isVisible()


@pytest.mark.parametrize(
    ("button", "signing"),
    [
        ("Measure without signing", Signing.UNSIGNED),
        ("Keep the key in a file", Signing.KEY_FILE),
    ],
)
def test_ways_out_without_a_keychain(qtbot, window, services, button, signing):
    window.content.measure.measure()
    services.post(RunFailed(demo.no_keychain()))
    press(qtbot, window, button)
    assert services.requests[-1].signing is signing
    assert window.content.measure.error.text == ""


def test_the_key_file_is_kept_for_the_session_but_unsigned_is_not(qtbot, window, services):
    for button, later in (
        ("Measure without signing", Signing.KEYCHAIN),
        ("Keep the key in a file", Signing.KEY_FILE),
    ):
        window.content.measure.measure()
        services.post(RunFailed(demo.no_keychain()))
        press(qtbot, window, button)
        services.post(demo.finished())
        window.content.measure.measure()
        assert services.requests[-1].signing is later
        services.post(demo.finished())


def test_busy_offers_to_wait(qtbot, window, services):
    window.content.measure.measure()
    services.post(RunFailed(Reason("busy", {"holder": "terminal"})))
    press(qtbot, window, "Measure after it")
    assert services.requests[-1].wait


def test_notice_is_shown_beside_the_run(window, services):
    window.content.measure.measure()
    services.post(Notice(Reason("using_key_file", {"name": "key"})))
    assert "the file key" in window.content.measure.notice.text
    assert window.content.measure.running


def test_banner_is_dismissed(qtbot, window, services):
    services.post(CallFailed(Reason("ledger_open", {"detail": "locked"})))
    assert "locked" in window.content.banner.text
    assert window.content.measure.machine.title.text().startswith("Looking")
    press(qtbot, window, "Dismiss")
    assert window.content.banner.text == ""


def test_failed_detection_is_said_in_its_card(window, services):
    services.post(CallFailed(Reason("unexpected", {"detail": "x", "log": "y"})))
    assert window.content.measure.machine.title.text() == "The hardware could not be read"


def test_a_chosen_file_is_measured_and_only_its_name_shown(qtbot, window, services):
    path = demo.gguf_path()
    window.content.measure.build.use_file(path)
    window.content.measure.measure()
    assert services.requests[-1].build == str(path)
    assert window.content.measure.build.title.text() == path.stem
    assert str(path.parent) not in [label.text() for label in window.findChildren(QLabel)]
    services.post(demo.finished())
    press(qtbot, window, "Use the reference build")
    assert window.content.measure.build.wanted == REFERENCE


def test_every_note_is_shown_on_its_own_line(window, services):
    event = demo.finished()
    run = demo.run(notes=tuple(Note))
    services.post(type(event)(run, None, None))
    assert len(window.content.measure.result.notes.text().splitlines()) == len(Note)


def test_copy_id(qtbot, window, services):
    services.post(demo.finished())
    press(qtbot, window, "Copy id")
    assert QGuiApplication.clipboard().text() == demo.STATEMENT_ID


def test_pages_by_key(qtbot, window):
    pages = {
        Qt.Key.Key_2: MACHINE,
        Qt.Key.Key_3: FITS,
        Qt.Key.Key_4: BUILDS,
        Qt.Key.Key_5: RESULTS,
        Qt.Key.Key_1: MEASURE,
    }
    for key, page in pages.items():
        qtbot.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)
        assert window.content.page == page


def test_quit_in_mid_run_stops_it(qtbot, window, services):
    window.content.measure.measure()
    qtbot.keyClick(window, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
    assert not window.isVisible()
    assert services.asked[-1] == "stop"
    services.post(RunFailed(Reason("cancelled"), cancelled=True))


def test_the_button_has_the_focus_and_return_presses_it(qtbot, window, services):
    window.activateWindow()
    qtbot.waitUntil(window.content.measure.run.button.hasFocus)
    qtbot.keyClick(window.content.measure.run.button, Qt.Key.Key_Space)
    assert len(services.requests) == 1


def test_long_names_do_not_widen_the_side(qtbot, window, services):
    services.post(demo.machine_known())
    window.content.measure.build.use_file(demo.gguf_path().with_stem("Long_Name_" * 12))
    window.resize(1024, 640)
    for card in (window.content.measure.machine, window.content.measure.build):
        area = card.parentWidget().parentWidget()
        qtbot.waitUntil(lambda card=card, area=area: card.width() <= area.width())
        assert card.minimumSizeHint().width() <= area.width()


def test_banner_text_has_its_kinds_colour(window, services, theme):
    services.post(CallFailed(Reason("ledger_open", {"detail": "locked"})))
    label = next(w for w in window.content.banner.findChildren(QLabel) if "locked" in w.text())
    assert label.palette().color(label.foregroundRole()).name() == theme.colours.error


def _reachable(window: QWidget) -> list[QWidget]:
    return [
        w
        for w in window.findChildren(QWidget)
        if w.isVisible() and w.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]


@pytest.mark.parametrize("page", [MEASURE, RESULTS])
def test_everything_reachable_has_a_name(window, services, page):
    services.post(demo.machine_known(), demo.rows(), demo.finished())
    services.post(RunFailed(demo.no_keychain()))
    window.content.show_page(page)
    reachable = _reachable(window)
    assert len(reachable) >= 4
    nameless = [
        w
        for w in reachable
        if not QAccessible.queryAccessibleInterface(w).text(QAccessible.Text.Name)
    ]
    assert not nameless


@pytest.mark.parametrize("size", [(1024, 640), (1280, 800)])
def test_nothing_is_wider_than_the_window(qtbot, window, services, size):
    services.post(demo.machine_known(), demo.finished(), RunFailed(demo.no_keychain()))
    window.resize(*size)
    qtbot.waitUntil(lambda: window.width() == size[0])
    assert window.minimumSizeHint().width() <= size[0]
    for button in window.findChildren(QPushButton):
        if button.isVisible():
            right = button.mapTo(window, button.rect().topRight()).x()
            assert right < window.width(), button.text()
            assert button.width() >= button.sizeHint().width(), button.text()


def test_fault_before_it_is_filled(qtbot, theme):
    bare = MainWindow(theme)
    qtbot.addWidget(bare)
    bare.show()
    bare.show_fault(Reason("ledger_newer", {"found": 9, "known": 1}))
    words = [label.text() for label in bare.findChildren(QLabel)]
    assert words == [
        (
            "The ledger was written by a newer Gram (format 9; this one knows 1).\n\n"
            "Nothing was changed. Update Gram."
        )
    ]
    with pytest.raises(RuntimeError):
        _ = bare.content


def test_closed_while_the_plot_is_imported(qtbot, services, bridge, theme):
    quick = MainWindow(theme)
    qtbot.addWidget(quick)
    quick.show()
    quick.fill(services, bridge)
    quick.content.measure.measure()
    quick.close()
    assert services.asked[-1] == "stop"


FIRST_PAINT = """
import sys
from PySide6.QtWidgets import QApplication
from desktop.ui.bridge import Bridge
from desktop.ui.main_window import MainWindow
from desktop.ui.theme import Theme
from tests.gui.demo import FakeServices

app = QApplication([])
bridge = Bridge()
window = MainWindow(Theme(app))
slow = {"pyqtgraph", "numpy", "PySide6.QtNetwork", "PySide6.QtSvg", "desktop.ui.content"}
def at_first_paint():
    print("early", sorted(slow & set(sys.modules)), flush=True)
    window.fill(FakeServices(bridge), bridge)
    window.content.measure.live.graph.ready.connect(window.close)
window.painted.connect(at_first_paint)
window.show()
code = app.exec()
print("late", "pyqtgraph" in sys.modules, code)
"""


def test_first_paint_comes_before_pyqtgraph():
    done = subprocess.run(
        [sys.executable, "-c", FIRST_PAINT],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.splitlines() == ["early []", "late True 0"], done.stderr


DOOR = """
import sys
from pathlib import Path
from desktop.app import App, _qt
from desktop.paths import Paths

HEAVY = {"numpy", "gguf", "pyqtgraph", "duckdb", "requests", "keyring", "nacl", "llama_cpp"}
HEAVY |= {"PySide6.QtSvg", "desktop.ui.content", "desktop.services.app_services"}

def there():
    return sorted(HEAVY & set(sys.modules))

class Door(App):
    def _make_services(self):
        print("painted", there(), flush=True)
        made = super()._make_services()
        # the live graph's own thread loads numpy a little later
        print("made", sorted({"numpy", "gguf", "duckdb", "requests"} & set(sys.modules)))
        self.filled.connect(self.window.close)
        return made

home = Path(sys.argv[1])
qt = _qt()
door = Door(qt, Paths(home, home, home))
door.show()
code = qt.exec()
door.close()
print("ended", code)
"""


def test_the_programs_own_start_paints_before_all_that_is_heavy(tmp_path):
    """And makes its services without what only estimates, files and the live graph need."""
    done = subprocess.run(
        [sys.executable, "-c", DOOR, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.splitlines() == ["painted []", "made []", "ended 0"], done.stderr
