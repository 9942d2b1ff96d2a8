"""Pictures of the window.

    python docs/screenshots.py --design FOLDER    made-up data, to judge the design; never published
    python docs/screenshots.py --real             a real run of the reference build, for the README
    python docs/screenshots.py --design FOLDER --only builds      states with this in their names
    python docs/screenshots.py --real --only builds               this page, and nothing is measured

A real picture says what this machine really did, so the README's pictures are made with `--real`.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
SIZES = ((1024, 640), (1280, 800))
REAL_SIZE = (1280, 800)
sys.path.insert(0, str(ROOT))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, Qt, QTimer  # noqa: E402 - after the platform is chosen
from PySide6.QtGui import QPixmap  # noqa: E402
from PySide6.QtWidgets import QApplication, QScrollArea  # noqa: E402

from desktop.records.events import (  # noqa: E402
    AppEvent,
    PartsFinished,
    RunFailed,
    RunFinished,
)
from desktop.records.hub_token import TokenSource  # noqa: E402
from desktop.records.request import RunRequest, Signing  # noqa: E402
from desktop.ui.bridge import Bridge  # noqa: E402
from desktop.ui.content import BUILDS, FITS, MACHINE, RESULTS  # noqa: E402
from desktop.ui.design import Scheme  # noqa: E402
from desktop.ui.main_window import MainWindow  # noqa: E402
from desktop.ui.theme import Theme  # noqa: E402

if TYPE_CHECKING:
    from desktop.app import App
    from desktop.records.fits import FitRow
    from desktop.ui.fits_page import FitsPage

MODEL = "llama-3.2-1b-instruct"
"""Whose page is shown."""
SETTLE_MS = 300
LOOK_MS = 50
LIVE_AFTER = 0.6
"""The share of a run at which its picture is taken."""


def wait_for(signal: object, seconds: float = 600.0) -> None:
    """Run the event loop until `signal` fires.

    Raises:
        TimeoutError: it did not within `seconds`.
    """
    loop = QEventLoop()
    late = QTimer(singleShot=True, interval=round(1000 * seconds))
    late.timeout.connect(lambda: loop.exit(1))
    signal.connect(lambda *_: loop.exit(0))  # type: ignore[attr-defined] # any bound signal
    late.start()
    if loop.exec():
        raise TimeoutError("the window did not get that far")


def picture(window: MainWindow, size: tuple[int, int]) -> QPixmap:
    """The window at `size`, once its layout has settled."""
    window.resize(*size)
    # what a service still tells (the costs of a run) moves the rows once more
    settled = QEventLoop()
    QTimer.singleShot(SETTLE_MS, settled.quit)
    settled.exec()
    return window.grab()


def save(window: MainWindow, folder: Path, name: str, size: tuple[int, int]) -> None:
    """Write one PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    picture(window, size).save(str(path))
    print(path)


def design(app: QApplication, folder: Path, only: str = "") -> None:
    """Every state whose name has `only`, both schemes, both sizes, with made-up data."""
    from tests.gui import demo  # noqa: PLC0415 - tests are not shipped

    theme = Theme(app)
    bridge = Bridge()
    services = demo.FakeServices(bridge)
    window = MainWindow(theme)
    window.show()
    wait_for(window.painted)
    window.fill(services, bridge)
    wait_for(window.content.measure.live.graph.ready)
    for state in _states(window, services):
        for scheme in Scheme if only in state else ():
            theme.use(scheme)
            for size in SIZES:
                save(window, folder, f"made-up-{state}-{scheme}-{size[0]}", size)
    window.close()


def _states(window: MainWindow, services: object) -> Iterator[str]:
    """Bring the window into each state and name it."""
    from tests.gui import demo  # noqa: PLC0415 - tests are not shipped

    assert isinstance(services, demo.FakeServices)  # noqa: S101
    yield "0-empty"
    services.post(demo.machine_known())
    yield "1-idle"
    window.content.measure.measure()
    services.shown = demo.curves()
    services.post(*demo.during())
    window.content.measure.live.refresh()
    yield "2-running"
    services.post(demo.finished(), demo.costs_known())
    yield "3-result"
    services.post(RunFailed(demo.no_keychain()))
    yield "4-error"
    window.content.measure.error.hide()
    window.content.show_page(RESULTS)
    yield "5-no-results"
    window.content.show_page(MACHINE)
    services.post(demo.laptop())
    yield "7-machine"
    window.content.machine.measure()
    services.post(*demo.some_parts())
    yield "8-parts-running"
    services.post(demo.parts_finished())
    yield "9-parts"
    bar = window.content.machine.area.verticalScrollBar()
    bar.setValue(bar.maximum())
    yield "9-parts-below"
    window.content.show_page(RESULTS)
    services.post(demo.rows())
    window.content.results.table.selectRow(1)
    yield "6-results"
    yield from _fits_states(window, services)
    yield from _builds_states(window, services)


def _fits_states(window: MainWindow, services: object) -> Iterator[str]:
    """What fits on a made-up machine, by the real tables and rules."""
    from tests.gui import demo, fits_demo  # noqa: PLC0415 - tests are not shipped

    assert isinstance(services, demo.FakeServices)  # noqa: S101
    window.content.show_page(FITS)
    fits = window.content.fits.section.fits
    yield "10-fits-waiting"
    services.post(*fits_demo.fits_known(4096, all_of=True))
    yield "11-fits"
    fits.list.table.selectRow(2)
    yield "12-fits-selected"
    fits.list.search.setText("llama")
    fits.list.sort_by.choose(2)
    fits.list.table.select(lambda row: row.model.id == "llama-3.1-405b-instruct")
    yield "13-fits-nowhere"
    fits.list.search.setText("nothing like this")
    yield "14-fits-nothing"
    fits.list.search.clear()
    fits.list.sort_by.choose(0)
    fits.list.table.select(lambda row: row.model.id == fits_demo.MODEL)
    services.asked.clear()
    fits.list.rehearse.click()
    services.post(fits_demo.rehearsal_begins())
    yield "15-fits-rehearsing"
    services.post(fits_demo.rehearsed(quant=fits.list.table.current.quant.id))
    yield "16-fits-rehearsed"
    fits.banner.hide()
    yield from _page_states(window, services)


def _page_states(window: MainWindow, services: object) -> Iterator[str]:
    """A model's pages."""
    from tests.gui import demo, fits_demo  # noqa: PLC0415 - tests are not shipped

    assert isinstance(services, demo.FakeServices)  # noqa: S101
    section = window.content.fits.section
    section.open_model(fits_demo.model(), 4096)
    services.post(fits_demo.model_page())
    yield "20-model"
    section.model.overview.area.verticalScrollBar().setValue(10_000)
    yield "20-model-below"
    section.model.tabs.show_part(1)
    section.model.devices.table.selectRow(0)
    yield "21-model-devices"
    section.model.devices.table.sortByColumn(6, Qt.SortOrder.AscendingOrder)
    section.model.devices.table.selectRow(4)
    yield "22-model-devices-sorted"
    section.model.tabs.show_part(2)
    yield "23-model-sizes"
    section.model.tabs.show_part(3)
    section.model.without.table.selectRow(0)
    yield "24-model-without"
    section.open_device("geforce-rtx-3060-12gb")
    services.post(fits_demo.device_page("geforce-rtx-3060-12gb"))
    yield "25-device"
    section.device.tabs.show_part(1)
    yield "26-device-layers"
    section.device.tabs.show_part(2)
    yield "27-device-arithmetic"
    section.go_back()
    section.open_device("")
    services.post(fits_demo.here_page())
    section.here.table.selectRow(6)
    yield "28-here"
    section.here.tabs.show_part(1)
    yield "29-here-layers"
    section.here.tabs.show_part(2)
    yield "30-here-arithmetic"


def _builds_states(window: MainWindow, services: object) -> Iterator[str]:
    """Builds to get and builds that are here, downloads, questions, how to run one."""
    from tests.gui import builds_demo, demo, fits_demo  # noqa: PLC0415 - tests are not shipped

    assert isinstance(services, demo.FakeServices)  # noqa: S101
    window.content.show_page(BUILDS)
    section = window.content.builds.section
    page = section.page
    yield "40-builds-waiting"
    services.post(*fits_demo.fits_known(4096), builds_demo.shelf_known())
    services.post(builds_demo.offers_known(offers=()))
    yield "41-builds-empty"
    services.post(builds_demo.offers_known())
    yield "42-builds"
    page.get.table.selectRow(1)
    yield "43-builds-selected"
    page.get.table.select(lambda offer: offer.build.gated)
    yield "44-builds-gated"
    page.get.get_and_measure.click()
    services.post(builds_demo.token_known(TokenSource.NONE))
    yield "45-builds-token"
    section.tokens.panel.back.click()
    services.post(builds_demo.offline())
    yield "46-builds-offline"
    page.get.search.setText("llama")
    page.get.search_hub.click()
    services.post(builds_demo.offers_known(found=builds_demo.FOUND))
    yield "47-builds-found"
    page.get.search.clear()
    page.get.table.select(lambda offer: offer.build.gated)
    page.get.get.click()
    services.post(builds_demo.token_known(TokenSource.KEYCHAIN))
    name = page.get.table.current.build.name
    services.post(builds_demo.step(name))
    yield "48-builds-downloading"
    services.post(builds_demo.no_room(name))
    yield "49-builds-no-room"
    services.post(builds_demo.gated(name))
    yield "50-builds-refused"
    services.post(builds_demo.arrived(name))
    yield "51-builds-done"
    page.strips.close_strip(name)
    page.tabs.show_part(1)
    page.here.table.selectRow(1)
    page.here.delete.click()
    yield "52-builds-here"
    page.here.question.hide()
    services.post(builds_demo.use_known())
    yield "53-builds-use"
    section.use.findChild(QScrollArea).verticalScrollBar().setValue(10_000)
    yield "53-builds-use-below"


def real(app: QApplication, only: str = "") -> None:
    """Measure this machine and take the README's pictures: live, result, results and machine.

    Args:
        app: the application.
        only: `fits` or `builds`: that page, and nothing is measured.

    Raises:
        SystemExit: the run failed; says why.
    """
    from desktop.app import App  # noqa: PLC0415 - the composition root is the only one to compose
    from desktop.paths import default_paths  # noqa: PLC0415

    gram = App(app, default_paths().ensure())
    gram.show()
    wait_for(gram.filled)
    pages = {"fits": estimates, "builds": builds}
    try:
        if not only:
            measured(gram)
        for name, take in pages.items():
            if only in name:
                take(gram)
    finally:
        gram.window.close()
        gram.close()


def measured(gram: "App") -> None:
    """A run, all results, and the parts."""
    window, content = gram.window, gram.window.content
    wait_for(content.measure.live.graph.ready)
    content.measure.use(RunRequest(signing=Signing.KEYCHAIN_OR_FILE))
    measure(window, gram.bridge)
    shots(gram, "result")
    content.show_page(RESULTS)
    shots(gram, "results")
    measure_parts(window, gram.bridge)
    shots(gram, "machine")


def estimates(gram: "App") -> None:
    """What fits here by the run and the parts just measured; a model's page and a device's."""
    window, content = gram.window, gram.window.content
    content.show_page(FITS)
    section = content.fits.section
    until(lambda: bool(section.fits.contexts))
    section.fits.list.table.selectRow(0)
    shots(gram, "fits")
    model = next(r.model for r in fits_rows(section.fits) if r.model.id == MODEL)
    section.open_model(model, section.fits.slider.tokens)
    until(lambda: section.model.devices.model.rowCount() > 0)
    shots(gram, "estimate")
    section.model.tabs.show_part(1)
    section.model.devices.table.selectRow(0)
    shots(gram, "estimate-devices")
    section.open_device(section.model.devices.model.record(1).id)
    until(lambda: section.device.model.rowCount() > 0)
    section.device.tabs.show_part(2)
    shots(gram, "estimate-device")
    window.content.show_page(FITS)


def builds(gram: "App") -> None:
    """What can be had for this machine, as shipped: the hub is not asked."""
    gram.window.content.show_page(BUILDS)
    page = gram.window.content.builds.section.page
    until(lambda: page.get.model.rowCount() > 0)
    page.get.table.selectRow(0)
    shots(gram, "builds")


def fits_rows(page: "FitsPage") -> "list[FitRow]":
    """What the list shows."""
    return [page.list.model.record(i) for i in range(page.list.model.rowCount())]


def shots(gram: "App", name: str) -> None:
    """One picture in each scheme."""
    for scheme in Scheme:
        gram.theme.use(scheme)
        save(gram.window, IMAGES, f"{name}-{scheme}", REAL_SIZE)


def until(holds: Callable[[], bool]) -> None:
    """Run the event loop until `holds`.

    It is looked at by a timer: an event that a service posted before anybody waits for it is
    handled without waking who waits then.
    """
    loop = QEventLoop()
    look = QTimer(interval=LOOK_MS)
    look.timeout.connect(lambda: loop.quit() if holds() else None)
    look.start()
    loop.exec()
    look.stop()


def own_profile() -> None:
    """A fresh profile with a keyring of its own, so that no picture shows this machine's paths."""
    home = tempfile.mkdtemp()
    os.environ |= {"GRAM_HOME": home, "HOME": home, "XDG_DATA_HOME": home, "XDG_RUNTIME_DIR": home}
    if shutil.which("gnome-keyring-daemon") and "DBUS_SESSION_BUS_ADDRESS" in os.environ:
        unlock = ["gnome-keyring-daemon", "--unlock", "--components=secrets"]
        subprocess.run(unlock, input=b"pictures", check=True, stdout=subprocess.DEVNULL)


def measure(window: MainWindow, bridge: Bridge) -> None:
    """One run, with a picture taken while it goes on.

    Raises:
        SystemExit: the run failed; says why.
    """
    page, taken, ended = window.content.measure, [], QEventLoop()

    def watch(event: AppEvent) -> None:
        if getattr(event, "fraction", 0.0) >= LIVE_AFTER and not taken:
            taken.append(event)
            page.live.refresh()
            save(window, IMAGES, "live-light", REAL_SIZE)
        if isinstance(event, RunFinished | RunFailed):
            ended.exit(0 if isinstance(event, RunFinished) else 1)

    bridge.received.connect(watch)
    page.measure()
    if ended.exec():
        raise SystemExit(page.error.text)


def measure_parts(window: MainWindow, bridge: Bridge) -> None:
    """The parts, on their page.

    Raises:
        SystemExit: they could not be measured; says why.
    """
    page, ended = window.content.machine, QEventLoop()

    def watch(event: AppEvent) -> None:
        if isinstance(event, PartsFinished | RunFailed):
            ended.exit(0 if isinstance(event, PartsFinished) else 1)

    bridge.received.connect(watch)
    window.content.show_page(MACHINE)
    page.measure()
    if ended.exec():
        raise SystemExit(page.error.text)


def main() -> None:
    """Take the pictures that the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--design", type=Path, metavar="FOLDER")
    what.add_argument("--real", action="store_true")
    parser.add_argument("--only", default="", metavar="NAME")
    arguments = parser.parse_args()
    if arguments.real:
        own_profile()
    app = QApplication([])
    if arguments.real:
        real(app, arguments.only)
    else:
        design(app, arguments.design, arguments.only)


if __name__ == "__main__":
    main()
