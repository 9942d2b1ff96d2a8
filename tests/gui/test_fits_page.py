"""What fits: the list, its slider, its filters, its details, and what makes it sharper."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QPushButton, QWidget

from desktop.errors import Reason
from desktop.records.events import FitsKnown, Notice, RunFailed
from desktop.records.fits import Fit
from desktop.records.rehearsal import RehearsalRequest
from desktop.services.estimate_events import FitsFailed, FitsGoOn
from desktop.ui import design
from desktop.ui.content import FITS, MACHINE
from desktop.ui.context_slider import STOPS, ContextSlider, stops_up_to
from desktop.ui.fits_page import FAILED, FILLED, LOADING
from desktop.ui.fits_section import LIST, MODEL
from tests.gui import demo, fits_demo

SECOND = 8192


def plain(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def press(qtbot, window, text):
    found = [b for b in window.findChildren(QPushButton) if b.text() == text and b.isVisible()]
    assert len(found) == 1, text
    qtbot.mouseClick(found[0], Qt.MouseButton.LeftButton)


@pytest.fixture
def section(qtbot, window):
    window.content.show_page(FITS)
    qtbot.waitUntil(lambda: window.content.fits._section is not None)
    return window.content.fits.section


@pytest.fixture
def page(section, services):
    services.post(*fits_demo.fits_known(4096, SECOND))
    return section.fits


def shown(page):
    model = page.list.model
    return [model.record(i) for i in range(model.rowCount())]


def row_of(page, model_id):
    return page.list.model.find(lambda r: r.model.id == model_id)


class TestAsking:
    def test_nothing_is_worked_out_before_the_first_look(self, window, services):
        assert services.fits == []
        assert window.content.fits._section is None

    def test_the_chosen_context_first_its_neighbours_next_then_the_rest(self, section, services):
        assert [[r.context for r in asked] for asked in services.fits] == [[4096]]
        assert section.fits._stack.currentIndex() == LOADING
        services.post(*fits_demo.fits_known(4096))
        assert [r.context for r in services.fits[-1]] == [1024, 2048, 8192, 16384]
        first = fits_demo.fits()
        for context in (1024, 2048, 8192, 16384):
            services.post(FitsKnown(_at(first, context)))
        rest = [r.context for r in services.fits[-1]]
        assert rest == [512, *(2**e for e in range(15, 21))]
        for context in rest:
            services.post(FitsKnown(_at(first, context)))
        assert section.fits.contexts == frozenset(STOPS)
        assert len(services.fits) == 3

    def test_rates_are_those_of_a_full_context_and_every_model_has_a_row(self, section, services):
        request = services.fits[0][0]
        assert request.depth == request.context - 1
        assert request.every_model

    def test_a_context_that_is_not_there_yet_is_asked_for_alone(self, page, services):
        page.slider.choose(131072)
        assert [r.context for r in services.fits[-1]] == [131072]
        assert page._stack.currentIndex() == LOADING
        services.post(FitsKnown(_at(fits_demo.fits(), 131072)))
        assert page._stack.currentIndex() == FILLED

    def test_it_says_how_far_it_is(self, section, services):
        services.post(FitsGoOn(0.4))
        page = section.fits
        assert page.waiting.isVisible()
        assert page.waiting.words == "Working out what fits"
        assert page.waiting._bar.value() == 400
        services.post(*fits_demo.fits_known(4096))
        assert not page.waiting.isVisible()

    def test_rows_that_are_known_are_there_before_all_are(self, section, services):
        page, whole = section.fits, fits_demo.fits()
        some = replace(whole, rows=whole.rows[:3])
        services.post(FitsGoOn(0.2, some))
        assert page._stack.currentIndex() == FILLED
        assert shown(page) == list(some.rows)
        assert page.waiting.isVisible()
        assert page.about.text()
        assert page.parts.isVisible()
        page.list.table.selectRow(1)
        chosen = page.list.table.current.model.id
        services.post(FitsGoOn(0.5, replace(whole, rows=whole.rows[:8])))
        assert len(shown(page)) == 8
        assert page.list.table.current.model.id == chosen
        services.post(*fits_demo.fits_known(4096))
        assert not page.waiting.isVisible()
        assert len(shown(page)) == len(whole.rows)

    def test_some_rows_of_another_context_or_beside_all_older_ones_are_not_shown(
        self, page, services
    ):
        before = shown(page)
        some = replace(fits_demo.fits(), rows=fits_demo.fits().rows[:2])
        page.forget()
        services.post(FitsGoOn(0.2, some))
        assert shown(page) == before
        page.slider.choose(131072)
        services.post(FitsGoOn(0.2, some))
        assert page._stack.currentIndex() == LOADING

    def test_what_a_measurement_holds_up_says_so_and_is_asked_for_after_it(
        self, window, section, services
    ):
        page = section.fits
        window.content.measure.measure()
        assert page.waiting.words == "Waiting until what is measured has ended"
        before = len(services.fits)
        services.post(demo.finished())
        assert page.waiting.words == "Working out what fits"
        assert [r.context for r in services.fits[before]] == [4096]

    def test_nothing_is_worked_out_while_something_is_measured(self, window, section, services):
        window.content.measure.measure()
        before = len(services.fits)
        services.post(*fits_demo.fits_known(4096))
        assert len(services.fits) == before
        services.post(demo.finished())
        assert len(services.fits) > before

    def test_a_finished_run_makes_all_of_it_anew(self, window, page, services):
        window.content.measure.measure()
        services.post(demo.finished())
        assert page.contexts == frozenset()
        assert [r.context for r in services.fits[-1]] == [4096]
        # what was known stays until there is better
        assert page._stack.currentIndex() == FILLED

    def test_an_error_stands_in_the_pages_place_and_can_be_tried_again(
        self, qtbot, window, section, services
    ):
        services.post(FitsFailed(Reason("ledger_open", {"detail": "locked"})))
        assert section.fits._stack.currentIndex() == FAILED
        assert "locked" in section.fits.why.text()
        before = len(services.fits)
        press(qtbot, window, "Try again")
        assert len(services.fits) == before + 1
        services.post(*fits_demo.fits_known(4096))
        assert section.fits._stack.currentIndex() == FILLED


class TestList:
    def test_this_machine_and_both_answers_about_its_memory(self, page):
        assert plain(page.about.text()) == (
            "NVIDIA GeForce RTX 3060 · 12 GiB on the card · 44 GiB with offload · "
            "estimates, not measurements"
        )

    def test_a_row_names_quantization_need_range_context_and_tier(self, page):
        at = row_of(page, "llama-3.1-8b-instruct")
        row = page.list.model.record(at)
        texts = [plain(text) for text in page.list.model.row(at)]
        speed = row.estimate.decode
        assert texts[0].startswith("Llama 3.1 8B Instruct\n8.0 B")
        assert texts[1] == f"{row.quant.label}\n{row.quant.quality} ({row.quant.rank})"
        assert texts[2].endswith("\non the card")
        low, _, high = texts[3].partition("\n")[0].partition("\N{EN DASH}")
        assert float(low) == pytest.approx(speed.low_tok_s, rel=0.01)
        assert float(high) == pytest.approx(speed.high_tok_s, rel=0.01)
        assert texts[3].partition("\n")[2] == "estimate at 4096"
        assert texts[5] == "C\ncatalogue"

    def test_a_range_is_said_with_its_ceiling_and_context(self, page):
        at = row_of(page, "llama-3.1-8b-instruct")
        said = page.list.model.said(at, 3)
        assert "tokens a second, ceiling" in said
        assert said.endswith("estimate for 4096 tokens")

    def test_what_does_not_fit_says_why_and_has_no_bar(self, page):
        at = row_of(page, "llama-3.1-405b-instruct")
        row = page.list.model.record(at)
        assert row.fit is Fit.NOWHERE
        assert page.list.model.row(at)[2].endswith("\ndoes not fit")
        assert page.list.model.fields[3].span(row) is None
        assert "GiB" in page.list.model.row(at)[3]

    @pytest.mark.parametrize(
        ("choice", "fits"),
        [
            (0, set(Fit) - {Fit.IN_MEMORY}),
            (1, {Fit.ON_CARD, Fit.WITH_OFFLOAD}),
            (2, {Fit.ON_CARD}),
        ],
    )
    def test_the_filter(self, page, choice, fits):
        page.list.show_only.choose(choice)
        assert {row.fit for row in shown(page)} == fits

    def test_without_a_card_the_filter_speaks_of_memory(self, section, services):
        services.post(*fits_demo.fits_known(4096, card=False))
        page = section.fits
        choices = [action.text() for action in page.list.show_only.menu().actions()]
        assert choices == ["all", "fits in memory"]
        assert "of memory" in page.about.text()
        page.list.show_only.choose(1)
        assert {row.fit for row in shown(page)} == {Fit.IN_MEMORY}

    def test_a_search_takes_all_words_anywhere_in_the_names(self, qtbot, page):
        qtbot.keyClicks(page.list.search, "tiny CHAT")
        assert [row.model.id for row in shown(page)] == ["tinyllama-1.1b-chat-v1.0"]
        assert page.list.count.text().startswith("1 of ")
        qtbot.keyClicks(page.list.search, " nothing-has-this")
        assert page.list.none.isVisible()
        qtbot.keyClick(page.list.search, Qt.Key.Key_Escape)
        assert len(shown(page)) > 10

    def test_sorted_by_what_a_person_chooses(self, page):
        page.list.sort_by.choose(4)
        names = [row.model.name.casefold() for row in shown(page)]
        assert names == sorted(names)
        page.list.sort_by.choose(2)
        needs = [row.estimate.need.total_bytes for row in shown(page) if row.estimate.need]
        assert needs == sorted(needs)
        page.list.sort_by.choose(1)
        rates = [r.estimate.decode.high_tok_s for r in shown(page) if r.estimate.decode]
        assert rates == sorted(rates, reverse=True)

    def test_reasons_are_told_of_the_selected_row(self, page):
        page.list.table.selectRow(row_of(page, "llama-3.1-70b-instruct"))
        assert page.list.pane.title.text().startswith("Llama 3.1 70B Instruct · ")
        said = plain(page.list.pane.text.toPlainText())
        assert "Estimate for 4096 tokens: " in said
        assert "layers lie on the card" in said
        assert "Tier C: from what is known of the device's class and back end." in said
        assert "Measure the parts, which takes under a minute." in said
        assert "`" not in said

    def test_without_a_selection_it_says_how_to_read_the_bars(self, page):
        said = page.list.pane.text.toPlainText()
        assert "ceiling" in said
        assert not page.list.open.isEnabled()
        assert not page.list.rehearse.isEnabled()


class TestSlider:
    def test_it_changes_all_that_depends_on_the_context(self, page):
        at = row_of(page, "llama-3.1-8b-instruct")
        before = page.list.model.record(at)
        page.list.table.selectRow(at)
        page.slider.choose(SECOND)
        after = page.list.table.current
        assert after.model is before.model
        assert after.estimate.use.context == SECOND
        assert after.estimate.need.cache_bytes > before.estimate.need.cache_bytes
        assert "8192 tokens" in page.list.pane.text.toPlainText()

    def test_it_is_moved_by_the_keyboard_and_says_its_value(self, qtbot, page):
        slider = page.slider.slider
        slider.setFocus()
        assert slider.accessibleName() == "Context 4096 tokens"
        qtbot.keyClick(slider, Qt.Key.Key_Right)
        assert page.slider.tokens == SECOND
        assert slider.accessibleName() == page.slider.words.text() == "Context 8192 tokens"
        qtbot.keyClick(slider, Qt.Key.Key_End)
        assert page.slider.tokens == 1 << 20
        qtbot.keyClick(slider, Qt.Key.Key_Home)
        assert page.slider.tokens == 512

    def test_all_bars_stay_on_one_scale(self, page):
        before = page.list.table.cells.scale
        page.slider.choose(SECOND)
        assert page.list.table.cells.scale == before

    def test_a_models_stops_end_with_its_own_context(self, qtbot):
        assert stops_up_to(2048) == (512, 1024, 2048)
        assert stops_up_to(40960)[-2:] == (32768, 40960)
        assert stops_up_to(None) == STOPS
        slider = ContextSlider()
        qtbot.addWidget(slider)
        slider.use_stops(stops_up_to(2048), 100_000)
        assert slider.tokens == 2048
        with pytest.raises(ValueError, match="not in"):
            slider.choose(4096)


class TestSharper:
    def test_the_parts_are_offered_where_there_are_none(self, qtbot, window, page, services):
        assert page.parts.begin.isVisible()
        press(qtbot, window, "Measure the parts")
        assert len(services.parts_requests) == 1
        assert not page.list.rehearse.isEnabled()
        services.post(*demo.parts_begin())
        assert page.parts.working
        assert "CUDA0" in page.parts.progress.words
        press(qtbot, window, "Stop")
        assert services.asked[-1] == "stop"
        services.post(RunFailed(Reason("cancelled"), cancelled=True))
        assert not page.parts.working
        assert window.content.page == FITS

    def test_parts_that_fail_are_told_where_the_ways_out_are(self, qtbot, window, page, services):
        press(qtbot, window, "Measure the parts")
        services.post(RunFailed(demo.no_keychain()))
        assert window.content.page == MACHINE
        assert window.content.machine.error.isVisible()

    def test_with_parts_there_is_nothing_to_offer(self, section, services):
        known = fits_demo.fits()
        services.post(FitsKnown(replace(known, parts_at="2025-03-14T09:26:53Z")))
        assert not section.fits.parts.isVisible()

    def test_parts_that_do_not_serve_are_offered_again_with_the_reason(self, section, services):
        told = Reason("estimate_parts_lacking", {"threads": 6})
        known = replace(fits_demo.fits(), parts_at="2025-03-14T09:26:53Z", told=(told,))
        services.post(FitsKnown(known))
        assert section.fits.parts.begin.isVisible()
        assert section.fits.parts.words.text() == told.text()

    def rehearse(self, qtbot, window, page):
        page.list.table.selectRow(row_of(page, fits_demo.MODEL))
        press(qtbot, window, "Rehearse")

    def test_a_rehearsal_of_the_selected_build(self, qtbot, window, page, services):
        self.rehearse(qtbot, window, page)
        quant = page.list.table.current.quant
        assert services.rehearsals == [RehearsalRequest(f"{fits_demo.MODEL}:{quant.id}")]
        services.post(fits_demo.rehearsal_begins())
        assert "Making files" in page.parts.progress.words
        services.post(fits_demo.rehearsed(quant=quant.id))
        assert not page.parts.working
        said = page.list.pane.text.toPlainText()
        assert "Rehearsed here: 41.3 to 46.2 tok/s" in said
        assert "no result" in said
        assert "A rehearsal is no result and is not signed." in page.banner.text

    def test_one_measurement_at_a_time(self, qtbot, window, page, services):
        self.rehearse(qtbot, window, page)
        assert not window.content.measure.run.button.isEnabled()
        assert not window.content.machine.parts.button.isEnabled()
        services.post(RunFailed(Reason("cancelled"), cancelled=True))
        assert window.content.measure.run.button.isEnabled()
        window.content.measure.measure()
        assert not page.list.rehearse.isEnabled()
        assert not page.parts.begin.isEnabled()

    def test_a_rehearsal_is_stopped_and_its_end_told(self, qtbot, window, page, services):
        self.rehearse(qtbot, window, page)
        press(qtbot, window, "Stop")
        assert services.asked[-1] == "stop"
        services.post(RunFailed(Reason("cancelled"), cancelled=True))
        assert page.banner.text
        assert not page.parts.working

    def test_a_failed_rehearsal_says_why(self, qtbot, window, page, services):
        self.rehearse(qtbot, window, page)
        services.post(Notice(Reason("using_key_file", {"name": "key"})))
        params = {"name": "x", "need_gb": 9.0, "free_gb": 1.0}
        services.post(RunFailed(Reason("rehearsal_too_large", params)))
        assert "needs files of 9.0 GB" in page.banner.text

    def test_what_fits_nowhere_is_not_rehearsed(self, page):
        page.list.table.selectRow(row_of(page, "llama-3.1-405b-instruct"))
        assert not page.list.rehearse.isEnabled()
        assert page.list.open.isEnabled()


def test_a_row_opens_the_models_page_by_return(qtbot, section, page, services):
    at = row_of(page, fits_demo.MODEL)
    page.list.table.selectRow(at)
    qtbot.keyClick(page.list.table, Qt.Key.Key_Return)
    assert section.page == MODEL
    assert services.pages == [("model", fits_demo.MODEL, 4095)]
    assert section.model.title.text() == "What runs Llama 3.1 8B Instruct"
    qtbot.keyClick(section.model, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert section.page == LIST
    assert page.list.table.current.model.id == fits_demo.MODEL


def test_everything_reachable_has_a_name(window, page):
    page.list.table.selectRow(1)
    reachable = [
        w
        for w in window.findChildren(QWidget)
        if w.isVisible() and w.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]
    assert len(reachable) >= 8
    nameless = [
        w
        for w in reachable
        if not QAccessible.queryAccessibleInterface(w).text(QAccessible.Text.Name)
    ]
    assert not nameless


def test_tab_goes_from_the_slider_to_the_list_and_its_buttons(qtbot, window, page):
    page.list.table.selectRow(1)
    page.slider.slider.setFocus()
    order = [
        page.parts.begin,
        page.list.search,
        page.list.show_only,
        page.list.sort_by,
        page.list.table,
        page.list.pane.text,
        page.list.open,
        page.list.rehearse,
    ]
    for expected in order:
        qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
        assert window.focusWidget() is expected


@pytest.mark.parametrize("size", [(1024, 640), (1280, 800)])
def test_nothing_is_wider_than_the_window(qtbot, window, page, size):
    page.list.table.selectRow(1)
    window.resize(*size)
    qtbot.waitUntil(lambda: window.width() == size[0])
    assert window.minimumSizeHint().width() <= size[0]
    for button in window.findChildren(QPushButton):
        if button.isVisible():
            right = button.mapTo(window, button.rect().topRight()).x()
            assert right < window.width(), button.text()
            assert button.width() >= button.sizeHint().width(), button.text()
    table = page.list.table
    assert table.horizontalScrollBar().maximum() == 0


def _at(fits, context):
    """What is known of one context, said of another."""
    return replace(fits, request=replace(fits.request, context=context, depth=context - 1))


@pytest.fixture
def large_text(qapp):
    """Text of twice the size, as the system may ask for."""
    before = qapp.font()
    larger = qapp.font()
    larger.setPixelSize(2 * design.font().pixelSize())
    qapp.setFont(larger)
    yield
    qapp.setFont(before)


def test_with_large_text_all_is_there_and_nothing_is_wider_than_the_window(
    large_text, qtbot, request
):
    window, services = request.getfixturevalue("window"), request.getfixturevalue("services")
    window.content.show_page(FITS)
    section = window.content.fits.section
    services.post(*fits_demo.fits_known(4096))
    page = section.fits
    page.list.table.selectRow(1)
    window.resize(1024, 640)
    qtbot.waitUntil(lambda: window.width() == 1024)
    assert window.minimumSizeHint().width() <= 1024
    table = page.list.table
    assert table.viewport().height() > 0
    assert table.columnWidth(0) >= design.wide(20)
    assert table.rowHeight(0) >= 2 * table.fontMetrics().height()
    for button in window.findChildren(QPushButton):
        if button.isVisible():
            right = button.mapTo(window, button.rect().topRight()).x()
            assert right < window.width(), button.text()
            assert button.width() >= button.sizeHint().width(), button.text()
