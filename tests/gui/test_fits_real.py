"""What fits, from the press of the rail to a device's page, with the program's own services."""

import pytest
from PySide6.QtCore import Qt

from desktop.app import App
from desktop.records.fits import Fit
from desktop.ui import device_estimate_page, estimate_page, here_page
from desktop.ui.content import FITS
from desktop.ui.fits_page import FILLED
from desktop.ui.fits_section import DEVICE, HERE, MODEL

WAIT_MS = 240_000
"""Every model of the catalogue is worked out; seconds where nothing else goes on."""
pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def app(qtbot, qapp, home):
    made = App(qapp, home)
    with qtbot.waitSignal(made.filled, timeout=WAIT_MS):
        made.show()
    yield made
    made.window.close()
    made.close()
    made.theme.setParent(None)
    made.window.deleteLater()


def test_from_the_list_to_a_devices_arithmetic_and_back(qtbot, app):
    content = app.window.content
    content.show_page(FITS)
    section = content.fits.section
    qtbot.waitUntil(lambda: bool(section.fits.contexts), timeout=WAIT_MS)
    assert section.fits._stack.currentIndex() == FILLED
    table = section.fits.list.table
    first = section.fits.list.model.record(0)
    assert first.fit is not Fit.NOWHERE
    # nothing was measured in this profile
    assert section.fits.parts.isVisible()
    table.selectRow(0)
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_Return)
    page = section.model
    qtbot.waitUntil(lambda: page._stack.currentIndex() == estimate_page.FILLED, timeout=WAIT_MS)
    assert section.page == MODEL
    here = page.devices.model.record(0)
    # one function for this machine's estimates: the list and the page say the same
    assert (here.here, here.estimate) == (True, first.estimate)
    section.open_device("")
    qtbot.waitUntil(lambda: section.here._stack.currentIndex() == here_page.FILLED, timeout=WAIT_MS)
    assert section.page == HERE
    same = section.here.model.find(lambda row: row.quant.id == first.quant.id)
    section.here.table.selectRow(same)
    assert "bytes" in section.here.parts.written.toPlainText()
    assert section.here.model.record(same).estimate == first.estimate
    section.go_back()
    section.open_device(page.devices.model.record(1).id)
    device = section.device
    filled = device_estimate_page.FILLED
    qtbot.waitUntil(lambda: device._stack.currentIndex() == filled, timeout=WAIT_MS)
    assert section.page == DEVICE
    assert "tok/s" in device.parts.written.toPlainText()
    section.go_back()
    section.go_back()
    assert table.current == first
