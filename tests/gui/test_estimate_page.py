"""A model's estimate page, a device's, and this machine's: everything of page 003, and the way back."""

import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from desktop.errors import Reason
from desktop.estimate import printed, reasons
from desktop.estimate.facts import facts_of
from desktop.estimate.page_words import WORDS
from desktop.records.fits import Fit
from desktop.records.rehearsal import RehearsalRequest
from desktop.services.estimate_events import PageFailed
from desktop.ui import design, estimate_page
from desktop.ui import estimate_words as ew
from desktop.ui.content import FITS
from desktop.ui.fits_section import DEVICE, LIST, MODEL
from desktop.ui.written_parts import ARITHMETIC, LAYERS
from tests.gui import fits_demo

DEVICE_ID = "geforce-rtx-3060-12gb"
OVERVIEW, DEVICES, SIZES, WITHOUT = range(4)


def labels(widget):
    return [
        label.text().replace("\N{ZERO WIDTH SPACE}", "") for label in widget.findChildren(QLabel)
    ]


def press(qtbot, widget, text):
    found = [b for b in widget.findChildren(QPushButton) if b.text() == text and b.isVisible()]
    assert len(found) == 1, text
    qtbot.mouseClick(found[0], Qt.MouseButton.LeftButton)


@pytest.fixture
def section(qtbot, window):
    window.content.show_page(FITS)
    qtbot.waitUntil(lambda: window.content.fits._section is not None)
    return window.content.fits.section


@pytest.fixture
def page(section, services):
    """The page of a model, opened from the list and filled."""
    section.open_model(fits_demo.model(), 4096)
    services.post(fits_demo.model_page())
    return section.model


@pytest.fixture
def device(section, page, services):
    section.open_device(DEVICE_ID)
    services.post(fits_demo.device_page(DEVICE_ID))
    return section.device


@pytest.fixture
def here(section, page, services):
    section.open_device("")
    services.post(fits_demo.here_page())
    return section.here


class TestOverview:
    def test_the_head_names_the_model_its_family_and_how_it_is_counted(self, page):
        assert page.title.text() == "What runs Llama 3.1 8B Instruct"
        assert page.line.text() == "Model · llama · released 2024-07"
        assert page.counted.text() == (
            "Memory is counted over all 8.0 B parameters. "
            "What a token reads is counted over its 8.0 B active parameters."
        )

    def test_every_fact_of_the_architecture(self, page):
        said = labels(page.overview.facts)
        for fact in facts_of(fits_demo.model()):
            assert WORDS[fact.name] in said
            assert fact.text() in said
        assert WORDS["facts.note"] in said

    def test_equal_names_share_a_row_with_a_line_each(self, section, services):
        model = fits_demo.model("gemma-3-4b-it")
        section.open_model(model, 4096)
        services.post(fits_demo.model_page("gemma-3-4b-it"))
        lines = [text for text in labels(section.model.overview.facts) if "heads" in text]
        assert len(lines) == 1
        assert len(lines[0].splitlines()) == len(model.groups) == 2
        assert "sliding attention over 1,024 tokens" in lines[0]

    def test_where_to_start(self, page):
        found = fits_demo.model_page().page.start
        said = " ".join(labels(page.overview.start))
        assert found.smallest.configuration.name in said
        for cheapest in found.cheapest:
            assert f"clears {cheapest.rate_tok_s} tokens a second" in said
            assert cheapest.row.configuration.name in said
            assert printed.price(cheapest.row.configuration.price_usd) in said
        assert WORDS["start.note"] in said
        assert "--" not in said

    def test_each_reason_of_a_row_is_explained_once_and_no_other(self, page):
        meanings = fits_demo.model_page().page.meanings
        said = labels(page.overview.reasons)
        assert meanings
        for reason in meanings:
            explained = [text for text in said if reason.text() in text]
            assert len(explained) == 1
            assert reasons.LABELS.get(reason.code, "") in explained[0]
        assert WORDS["reasons.note"] in said
        assert WORDS["tier.c"] in said

    def test_sources_can_be_read_and_opened(self, page):
        model = fits_demo.model()
        said = labels(page.overview.sources)
        assert f"Record of the model: {model.id}" in said
        assert all(source in said for source in model.sources)
        opening = page.overview.sources.findChildren(QPushButton)
        addresses = [source for source in model.sources if source.startswith("https://")]
        assert [b.accessibleName() for b in opening] == [f"Open {a}" for a in addresses]

    def test_another_models_page_opens_and_the_way_back_leads_here(
        self, qtbot, section, page, services
    ):
        other = fits_demo.model_page().page.related[0]
        size = printed.parameters(other.parameters)
        press(qtbot, page.overview.related, f"{other.name} · {size}")
        assert page.title.text() == f"What runs {other.name}"
        assert services.pages[-1][:2] == ("model", other.id)
        assert page._stack.currentIndex() == estimate_page.LOADING
        section.go_back()
        assert page.title.text() == "What runs Llama 3.1 8B Instruct"
        section.go_back()
        assert section.page == LIST


class TestDevices:
    @pytest.fixture(autouse=True)
    def shown(self, page):
        page.tabs.show_part(DEVICES)

    def test_all_ranked_devices_in_their_order_below_this_machine(self, page):
        found = fits_demo.model_page().page
        model = page.devices.model
        assert model.rowCount() == len(found.rows) + 1
        assert page.tabs.bar.tabText(DEVICES) == f"Devices ({len(found.rows)})"
        ids = [model.record(i).id for i in range(1, model.rowCount())]
        assert ids == [row.configuration.id for row in found.rows]
        first = model.record(0)
        assert first.here
        assert model.row(0)[1] == f"{fits_demo.CARD}\nthis machine"

    def test_a_row_has_every_column_of_the_page(self, page):
        found = fits_demo.model_page().page
        row, unit = found.rows[0], found.profile.memory_unit_bytes
        texts = page.devices.model.row(1)
        speed = row.speed
        assert texts[0] == "1"
        assert texts[1] == f"{row.configuration.name}\n{row.configuration.id}"
        assert texts[2] == f"{row.best.quant.label}\n{row.best.target.id}"
        assert texts[3] == row.runner_up.quant.label
        assert texts[4] == row.at_full_context.best.quant.label
        need = printed.memory(row.best.need.total_bytes, unit)
        usable = printed.memory(row.configuration.usable_bytes, unit)
        assert texts[5] == f"{need}\nof {usable}"
        assert texts[6] == f"{printed.span(speed)}\nestimate at 4096"
        assert texts[7] == printed.rate(speed.ceiling_tok_s)
        assert texts[8] == str(row.estimate.tier)
        assert texts[9] == ew.labels(row.estimate.reasons)

    def test_this_machine_stands_above_the_others_however_they_are_sorted(self, page):
        for column in range(len(page.devices.model.fields)):
            for order in Qt.SortOrder:
                page.devices.table.sortByColumn(column, order)
                assert page.devices.model.record(0).here

    def test_it_says_that_nothing_is_measured_and_what_rates_hold_for(self, page):
        said = page.devices.words.text()
        assert said.startswith(WORDS["ranked.label"])
        assert "one token after 4,095 others, batch 1, one stream" in said
        assert "Memory is counted with room for 4,096 tokens." in said
        assert "gram " not in said
        notes = page.devices.pane.text.toPlainText()
        assert WORDS["ranked.note.band"] in notes
        assert WORDS["ranked.note.choice"] in notes
        assert "131,072 tokens" in notes

    def test_devices_are_searched_by_words(self, qtbot, page):
        qtbot.keyClicks(page.devices.search, "rtx 3060")
        model = page.devices.model
        assert 1 <= model.rowCount() <= 4
        assert all("3060" in model.record(i).name for i in range(model.rowCount()))

    def test_reasons_of_the_selected_row_are_explained(self, page):
        table, rows = page.devices.table, fits_demo.model_page().page.rows
        table.select(lambda r: r.id == rows[0].configuration.id)
        assert page.devices.pane.title.text().startswith(rows[0].configuration.name)
        said = page.devices.pane.text.toPlainText()
        for reason in rows[0].estimate.reasons:
            assert reason.text() in said
        assert "ceiling" in said
        assert f"Prompt: {printed.span(rows[0].estimate.prompt)} tok/s" in said

    def test_return_opens_the_devices_page(self, qtbot, section, page, services):
        page.devices.table.select(lambda r: r.id == DEVICE_ID)
        qtbot.keyClick(page.devices.table, Qt.Key.Key_Return)
        assert section.page == DEVICE
        assert services.pages[-1] == ("device", fits_demo.MODEL, DEVICE_ID, 4095, None)


class TestOtherParts:
    def test_every_size_with_its_basis(self, page):
        page.tabs.show_part(SIZES)
        found = fits_demo.model_page().page
        assert page.sizes.model.rowCount() == len(found.sizes)
        row = found.sizes[0]
        assert "Weights\nGB" in [field.column.title for field in page.sizes.model.fields]
        # files are told in decimal units, in the window as in the terminal
        assert page.sizes.model.row(0) == (
            f"{row.quant.label}\n{row.quant.id}",
            row.quant.family,
            f"{row.quant.bits_per_weight:g}",
            f"{row.quant.quality}\n{row.quant.rank}",
            printed.file_size(row.weights.capacity_bytes),
            printed.file_size(row.weights.active_bytes),
            WORDS[f"basis.{row.weights.basis}"].replace(" (", "\n("),
        )

    @pytest.mark.parametrize("part", [SIZES, WITHOUT])
    def test_every_column_is_seen_in_the_narrowest_window(self, qtbot, window, page, part):
        page.tabs.show_part(part)
        window.resize(*design.Size.WINDOW_MIN)
        qtbot.waitUntil(lambda: window.width() == design.Size.WINDOW_MIN[0])
        table = {SIZES: page.sizes, WITHOUT: page.without}[part].table
        assert table.horizontalScrollBar().maximum() == 0

    def test_devices_without_a_result_have_a_reason_in_a_numbers_place(self, page):
        page.tabs.show_part(WITHOUT)
        found = fits_demo.model_page().page.without
        assert page.without.model.rowCount() == len(found)
        page.without.table.selectRow(0)
        said = page.without.pane.text.toPlainText()
        assert "of usable memory" in said
        assert found[0].reason.text() in said
        assert WORDS["none.note.slow"] in " ".join(labels(page.without))

    def test_a_bandwidth_that_no_source_tells_is_said_in_words(self, page):
        unknown = page.without.model.find(lambda r: r.configuration.bandwidth_bytes_s is None)
        page.without.table.selectRow(unknown)
        assert "No source tells its peak bandwidth." in page.without.pane.text.toPlainText()

    def test_the_slider_asks_anew_and_stops_at_the_models_context(self, qtbot, page, services):
        page.slider.slider.setFocus()
        qtbot.keyClick(page.slider.slider, Qt.Key.Key_End)
        assert services.pages[-1] == ("model", fits_demo.MODEL, 131_071)

    def test_the_page_of_another_model_is_too_late(self, section, page, services):
        section.open_model(fits_demo.model("gemma-3-4b-it"), 4096)
        services.post(fits_demo.model_page())
        assert page._stack.currentIndex() == estimate_page.LOADING
        assert page.title.text() == "What runs Gemma 3 4B IT"

    def test_a_page_that_cannot_be_made_says_why(self, page, services):
        params = {"name": "x", "trained": 10, "found": 20}
        services.post(PageFailed(Reason("estimate_beyond_context", params)))
        assert page.error.text == "x is trained for 10 tokens; 20 are more."
        services.post(fits_demo.model_page())
        assert page.error.text == ""

    def test_the_overview_is_read_to_its_end_by_keys_alone(self, qtbot, page):
        """Its texts take no focus, so the keys of the tabs that have it scroll them."""
        bar = page.overview.area.verticalScrollBar()
        assert bar.maximum() > 0
        while bar.value() < bar.maximum():
            before = bar.value()
            qtbot.keyClick(page.tabs.bar, Qt.Key.Key_PageDown)
            assert bar.value() > before
        assert page.tabs.bar.hasFocus()
        qtbot.keyClick(page.tabs.bar, Qt.Key.Key_PageUp)
        assert bar.value() < bar.maximum()

    def test_tabs_are_turned_by_the_arrow_keys(self, qtbot, page):
        assert page.tabs.bar.hasFocus()
        qtbot.keyClick(page.tabs.bar, Qt.Key.Key_Right)
        assert page.devices.isVisible()
        assert not page.overview.isVisible()


class TestDevice:
    def test_every_quantization_with_its_range_or_its_reason(self, device):
        found = fits_demo.device_page(DEVICE_ID).page
        assert device.title.text() == "Llama 3.1 8B Instruct on NVIDIA GeForce RTX 3060 12 GB"
        assert device.model.rowCount() == len(found.quants)
        for i, row in enumerate(found.quants):
            text = device.model.row(i)[4]
            if row.estimate is not None and row.estimate.decode is not None:
                assert text.startswith(printed.span(row.estimate.decode))
            else:
                assert text == ew.short(row.reason)

    def test_it_says_what_rates_and_what_memory_hold_for(self, device):
        said = device.holds.text()
        assert "one token after 4,095 others, batch 1, one stream" in said
        assert "Memory is counted with room for 4,096 tokens." in said

    def test_the_recommended_one_is_selected_and_explained(self, device):
        best = fits_demo.device_page(DEVICE_ID).page.choice.best
        assert device.table.current.quant.id == best.quant.id
        assert f"recommended {best.quant.label}" in device.facts.text()
        said = device.pane.text.toPlainText()
        assert "Tier C" in said
        # the columns that tell them give way in a narrow window
        row = device.table.current.estimate
        assert f"Prompt: {printed.span(row.prompt)} tok/s" in said
        assert "of a prompt of 4,095 tokens" in said
        assert WORDS["device.note.needs"] in said

    def test_bytes_by_layer_group(self, device):
        found = fits_demo.device_page(DEVICE_ID).page.layers
        assert device.parts.layers.rowCount() == len(found)
        for i, row in enumerate(found):
            assert device.parts.layers.row(i)[1] == f"{row.weight_bytes:,}"
            assert device.parts.layers.row(i)[4] == f"{row.cache_read_bytes:,}"

    def test_the_arithmetic_is_written_out_line_by_line(self, device):
        found = fits_demo.device_page(DEVICE_ID).page.arithmetic
        said = device.parts.written.toPlainText()
        for line in found:
            assert f"{line.expression} = {line.result} {line.unit}" in said
        assert re.search(r"= [\d.,]+ tok/s", said)

    def test_the_arithmetic_of_another_quantization(self, qtbot, device, services):
        device.table.select(lambda r: r.quant.id == "q4_0")
        press(qtbot, device, "Its arithmetic")
        assert services.pages[-1] == ("device", fits_demo.MODEL, DEVICE_ID, 4095, "q4_0")
        services.post(fits_demo.device_page(DEVICE_ID, quant="q4_0"))
        assert device.tabs.bar.currentIndex() == ARITHMETIC
        assert device.parts.written_title.text() == "The arithmetic, Q4_0"

    def test_alt_left_goes_back_to_the_model(self, qtbot, section, device):
        qtbot.keyClick(device, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
        assert section.page == MODEL

    def test_a_device_that_is_not_there_any_more_says_so(self, device, services):
        services.post(PageFailed(Reason("device_unknown", {"name": "x"})))
        assert device.error.text == "The catalogue has no device called x."


class TestHere:
    def test_every_quantization_on_this_machine_the_best_first(self, here):
        assert here.title.text() == "Llama 3.1 8B Instruct on this machine"
        ranks = [here.model.record(i).quant.rank for i in range(here.model.rowCount())]
        assert ranks == sorted(ranks, reverse=True)
        assert len(ranks) > 20
        assert "full context of 4096 tokens" in here.holds.text()

    def test_bytes_and_arithmetic_of_the_selected_quantization(self, qtbot, here):
        found = fits_demo.here_page().written["q4_k_m"]
        here.table.select(lambda r: r.quant.id == "q4_k_m")
        press(qtbot, here, "Its arithmetic")
        assert here.tabs.bar.currentIndex() == ARITHMETIC
        assert here.parts.written_title.text() == "The arithmetic, Q4_K_M"
        said = here.parts.written.toPlainText()
        assert found.arithmetic
        for line in found.arithmetic:
            assert f"{line.expression} = {line.result} {line.unit}" in said
        here.tabs.show_part(LAYERS)
        assert here.parts.layers.rowCount() == len(found.layers) > 1
        here.table.select(lambda r: r.quant.id == "q8_0")
        assert here.parts.written_title.text() == "The arithmetic, Q8_0"

    def test_one_is_rehearsed_from_here(self, qtbot, section, here, services):
        here.table.select(lambda r: r.quant.id == "q4_k_m")
        press(qtbot, here, "Rehearse")
        assert services.rehearsals == [RehearsalRequest(f"{fits_demo.MODEL}:q4_k_m")]
        services.post(fits_demo.rehearsal_begins())
        assert here.strip.working
        services.post(fits_demo.rehearsed())
        assert not here.strip.working
        assert "Rehearsed here: 41.3 to 46.2 tok/s" in here.pane.text.toPlainText()

    def test_nothing_is_rehearsed_that_does_not_fit_or_beside_a_run(self, window, here):
        large = here.model.find(lambda r: r.fit is Fit.NOWHERE)
        if large is not None:
            here.table.selectRow(large)
            assert not here.rehearse.isEnabled()
        here.table.select(lambda r: r.quant.id == "q4_k_m")
        assert here.rehearse.isEnabled()
        window.content.measure.measure()
        assert not here.rehearse.isEnabled()

    def test_back_leads_to_the_model(self, qtbot, section, here):
        press(qtbot, here, "Back")
        assert section.page == MODEL


@pytest.mark.parametrize("which", ["page", "device", "here"])
@pytest.mark.parametrize("size", [(1024, 640), (1280, 800)])
def test_everything_reachable_has_a_name_and_nothing_is_cut(qtbot, window, request, which, size):
    shown = request.getfixturevalue(which)
    window.resize(*size)
    qtbot.waitUntil(lambda: window.width() == size[0])
    tabs = getattr(shown, "tabs", None)
    for part in range(tabs.bar.count() if tabs else 1):
        if tabs:
            tabs.show_part(part)
        reachable = [
            w
            for w in window.findChildren(QWidget)
            if w.isVisible() and w.focusPolicy() & Qt.FocusPolicy.TabFocus
        ]
        nameless = [
            w
            for w in reachable
            if not QAccessible.queryAccessibleInterface(w).text(QAccessible.Text.Name)
        ]
        assert not nameless
        for button in shown.findChildren(QPushButton):
            if button.isVisible():
                right = button.mapTo(window, button.rect().topRight()).x()
                assert right < window.width(), button.text()
    assert window.minimumSizeHint().width() <= size[0]


def test_every_template_of_the_pages_is_filled_in_the_window(page, device, here):
    """No sentence is shown with a gap where a name or a figure belongs."""
    for shown in (page, device, here):
        for text in labels(shown):
            assert "{" not in text
            assert "…" not in text.replace("Working it out …", "")
