"""Builds: what can be had and what is here, downloads, refusals, how to run one."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QObject, Qt, QUrl, Slot
from PySide6.QtGui import QAccessible, QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from desktop.errors import Reason
from desktop.records.build_events import (
    BuildCallFailed,
    BuildChecked,
    BuildRemoved,
    FetchEnded,
    OffersKnown,
    TokenFailed,
    TokenKept,
)
from desktop.records.events import RunFailed
from desktop.records.fits import Fit
from desktop.records.hub_token import TokenSource, TokenState
from desktop.records.library import Checked, Evicted, Kept, LibraryEntry
from desktop.records.offers import FetchRequest, FetchState, Offers
from desktop.services.estimate_events import FitsFailed, FitsGoOn
from desktop.ui import builds_get, builds_here
from desktop.ui.builds_fields import SIZE, is_found
from desktop.ui.builds_page import HERE
from desktop.ui.builds_section import LIST, TOKEN, USE
from desktop.ui.components import Card, Reading
from desktop.ui.content import BUILDS, FITS, MEASURE, RESULTS
from desktop.ui.context_slider import full_context
from tests.gui import builds_demo, demo, fits_demo

LAST = "Hugging Face (where most builds are published) was last asked on"
NAME = "hf.co/unsloth/new-GGUF:Q4_K_M"


def plain(text):
    return text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{ZERO WIDTH SPACE}", "")


def press(qtbot, within, text):
    found = [b for b in within.findChildren(QPushButton) if b.text() == text and b.isVisible()]
    assert len(found) == 1, text
    qtbot.mouseClick(found[0], Qt.MouseButton.LeftButton)


def shown(model):
    return [model.record(i) for i in range(model.rowCount())]


def texts(model, column):
    return [plain(model.text(i, column)) for i in range(model.rowCount())]


def can(button):
    return button.isVisible() and button.isEnabled()


@pytest.fixture
def section(qtbot, window):
    window.content.show_page(BUILDS)
    qtbot.waitUntil(lambda: window.content.builds._section is not None)
    return window.content.builds.section


@pytest.fixture
def page(section, services):
    services.post(*fits_demo.fits_known(4096), builds_demo.offers_known())
    services.post(builds_demo.shelf_known())
    return section.page


@pytest.fixture
def get(page):
    return page.get


@pytest.fixture
def here(page):
    page.tabs.show_part(HERE)
    return page.here


def select(part, wanted):
    part.table.select(wanted)
    assert part.table.current is not None
    return part.table.current


def not_here(get):
    """A build that can be had, is selected and is not here."""
    return select(get, lambda o: o.held is None and o.build.files and not o.build.gated)


def begin(qtbot, get, words="Get"):
    offer = not_here(get)
    press(qtbot, get, words)
    return offer.build.name


def found(services, names=builds_demo.FOUND):
    services.post(builds_demo.offers_known(found=names))


def search(qtbot, get, services):
    get.search.setText("llama")
    qtbot.keyClick(get.search, Qt.Key.Key_Return)
    found(services)


def of_repository(repository, label):
    made = builds_demo.unknown()
    name = f"hf.co/{repository}:{label}"
    build = replace(made.build, name=name, repository=repository, quantization=label)
    return replace(made, build=build)


class TestAsking:
    def test_nothing_is_asked_before_the_first_look(self, window, services):
        assert services.builds == []
        assert window.content.builds._section is None

    def test_the_first_look_asks_what_is_here_and_what_fits(self, section, services):
        assert services.builds == [("hub",), ("shelf",)]
        assert services.fits == [(full_context(4096),)]
        assert section.page.get._stack.currentIndex() == builds_get.LOADING

    def test_what_fits_is_where_offers_come_from(self, section, services):
        services.post(*fits_demo.fits_known(4096))
        assert services.of("offers") == [(fits_demo.fits(4096), False)]
        services.post(*fits_demo.fits_known(8192))
        assert len(services.of("offers")) == 1

    def test_what_another_page_was_told_is_not_asked_again(self, qtbot, window, services):
        services.post(*fits_demo.fits_known(4096))
        window.content.show_page(BUILDS)
        qtbot.waitUntil(lambda: bool(services.of("offers")))
        assert services.of("offers") == [(fits_demo.fits(4096), False)]
        assert services.fits == []

    def test_what_was_told_before_a_run_is_not_used(self, qtbot, window, services):
        services.post(*fits_demo.fits_known(4096), demo.finished())
        window.content.show_page(BUILDS)
        qtbot.waitUntil(lambda: bool(services.fits))
        assert services.of("offers") == []

    def test_what_fits_asks_again_for_what_this_page_took_the_place_of(
        self, qtbot, window, services
    ):
        window.content.show_page(FITS)
        qtbot.waitUntil(lambda: len(services.fits) == 1)
        window.content.show_page(BUILDS)
        qtbot.waitUntil(lambda: len(services.fits) == 2)
        window.content.show_page(FITS)
        assert [r.context for r in services.fits[-1]] == [4096]
        assert len(services.fits) == 3

    def test_a_finished_run_makes_all_of_it_anew_and_shows_the_old_meanwhile(
        self, page, services, window
    ):
        before = len(services.fits)
        window.content.measure.measure()
        services.post(demo.finished())
        assert len(services.fits) == before + 1
        assert services.builds[-1] == ("shelf",)
        assert page.get._stack.currentIndex() == builds_get.FILLED

    def test_nothing_is_asked_while_something_is_measured(self, qtbot, window, services):
        window.content.measure.measure()
        window.content.show_page(BUILDS)
        qtbot.waitUntil(lambda: window.content.builds._section is not None)
        get = window.content.builds.section.page.get
        assert services.fits == []
        assert get.waiting.words == "Waiting until what is measured has ended"
        services.post(demo.finished())
        assert services.fits == [(full_context(4096),)] * len(services.fits)
        assert services.fits

    def test_it_says_how_far_it_is(self, section, services):
        services.post(FitsGoOn(0.4))
        get = section.page.get
        assert get.waiting.isVisible()
        assert get.waiting.words == "Working out what fits"
        assert get.waiting._bar.value() == 400

    def test_an_error_stands_in_the_lists_place_and_can_be_tried_again(
        self, qtbot, section, services
    ):
        services.post(FitsFailed(Reason("ledger_open", {"detail": "locked"})))
        get = section.page.get
        assert get._stack.currentIndex() == builds_get.FAILED
        assert "locked" in get.why.text()
        press(qtbot, get, "Try again")
        assert len(services.fits) == 2
        assert get._stack.currentIndex() == builds_get.LOADING


class TestGet:
    def test_what_fits_comes_first_then_with_offload_then_what_does_not(self, get, services):
        mixed = tuple(reversed(builds_demo.offers().offers))
        services.post(OffersKnown(Offers(mixed, online=True)))
        fits = [o.fit.fit if o.fit else None for o in shown(get.model)]
        order = [{Fit.ON_CARD}, {Fit.WITH_OFFLOAD}, {None}, {Fit.NOWHERE, Fit.RULED_OUT}]
        groups = [next(i for i, group in enumerate(order) if fit in group) for fit in fits]
        assert groups == sorted(groups)
        assert set(groups) == {0, 1, 2, 3}
        assert len(fits) == len(mixed)

    def test_the_services_order_holds_within_each_group(self, get):
        wanted = [o.build.name for o in builds_demo.offers().offers if o.fit][:4]
        assert [o.build.name for o in shown(get.model)][:4] == wanted

    def test_each_row_says_what_it_is(self, get):
        row = [plain(text) for text in get.model.row(0)]
        first = builds_demo.offers().offers[0]
        assert row[0] == f"{first.fit.model.name} · {first.fit.quant.label}\nbartowski"
        assert row[1] == "2.48 GB\non the card"
        assert row[2].endswith("\nestimate, tier C")
        assert row[3] == "llama3.2\nopen"
        assert row[4] == "here"

    def test_a_size_that_nobody_listed_is_said_to_be_about_so(self, get):
        sizes = texts(get.model, SIZE)
        asked = [o.build.size_bytes is not None for o in shown(get.model)]
        assert [not size.startswith("≈ ") for size in sizes] == asked
        offer = select(get, lambda o: o.build.size_bytes is None)
        assert offer is not None
        assert "estimated: its repository was not asked yet" in get.pane.text.toPlainText()

    def test_where_it_is_already(self, get):
        found = texts(get.model, 4)
        assert found[0] == "here"
        assert "in Ollama" in found
        assert "unfinished" in found

    def test_what_does_not_run_is_quiet_and_says_why(self, get):
        at = get.model.find(lambda o: o.fit is not None and not o.fit.runs)
        offer = get.model.record(at)
        assert get.model._quiet(offer)
        assert plain(get.model.text(at, 1)).endswith("does not fit")
        assert get.model.text(at, 2)
        assert "tok/s" not in get.model.text(at, 2)

    def test_sizes_of_a_column_are_of_one_kind(self, get):
        offer = select(get, lambda o: o.fit is not None and o.fit.fit is Fit.WITH_OFFLOAD)
        at = get.model.find(lambda o: o is offer)
        size, place = plain(get.model.text(at, SIZE)).split("\n")
        assert size.endswith(" GB")
        assert place.endswith(" GB on card")
        assert not any("GiB" in text for text in texts(get.model, SIZE))

    def test_how_to_read_it_explains_mark_and_tier(self, get):
        get.table.clearSelection()
        said = get.pane.text.toPlainText()
        assert "the upright mark is the ceiling" in said
        assert [f"Tier {tier}: " in said for tier in "ABC"] == [True] * 3
        assert "1 GB is a thousand million bytes" in said

    def test_a_bar_has_the_estimates_range_and_ceiling(self, get):
        speed = get.model.record(0).fit.estimate.decode
        span = get.model.fields[2].span(get.model.record(0))
        assert (span.low, span.high, span.ceiling) == (
            speed.low_tok_s,
            speed.high_tok_s,
            speed.ceiling_tok_s,
        )
        said = get.model.said(0, 2)
        assert "ceiling" in said
        assert "estimate for" in said

    def test_a_model_that_is_not_in_the_catalogue_says_so(self, get):
        at = get.model.find(lambda o: o.fit is None)
        assert get.model.text(at, 0) == "Own-7B-GGUF · Q5_K_M\nsomebody"
        assert get.model.text(at, 1).endswith("not estimated")
        get.table.selectRow(at)
        assert "not in the catalogue" in get.pane.text.toPlainText()
        assert can(get.get)

    def test_the_search_looks_in_all_its_names(self, get):
        get.search.setText("UNSLOTH")
        assert [o.build.packager for o in shown(get.model)] == ["unsloth"]
        assert get.count.text() == "1 of 11"
        get.search.setText("nothing like this")
        assert get._stack.currentIndex() == builds_get.EMPTY
        assert "Press Return to search Hugging Face" in get.none.text()

    def test_the_choice_of_what_is_shown(self, get):
        get.show_only.choose(builds_get.FITTING)
        assert all(o.fit.runs for o in shown(get.model))
        count = len(shown(get.model))
        get.show_only.choose(builds_get.WHOLLY)
        assert {o.fit.fit.value for o in shown(get.model)} == {"on_card"}
        assert 0 < len(shown(get.model)) < count

    def test_the_order_can_be_chosen_and_taken_back(self, get):
        before = shown(get.model)
        get.sort_by.choose(2)
        sizes = [o.build.size_bytes or o.fit.size_bytes for o in shown(get.model)]
        assert sizes == sorted(sizes)
        get.sort_by.choose(3)
        titles = [text.casefold() for text in texts(get.model, 0)]
        assert titles == sorted(titles)
        get.sort_by.choose(0)
        assert shown(get.model) == before

    def test_without_any_it_says_what_to_do(self, get, services):
        services.post(builds_demo.offers_known(offers=()))
        assert get._stack.currentIndex() == builds_get.EMPTY
        assert "add a repository by its name" in get.none.text()

    def test_the_selected_build_stays_selected(self, get, services):
        name = not_here(get).build.name
        services.post(builds_demo.offers_known())
        assert get.table.current.build.name == name

    def test_the_details_say_all_that_is_known(self, get):
        offer = not_here(get)
        said = plain(get.pane.text.toPlainText())
        assert get.pane.title.text() == f"{offer.fit.model.name} · {offer.fit.quant.label}"
        assert f"{offer.build.name}, packaged by {offer.build.packager}." in said
        assert "as its repository listed it on" in said
        assert f"Licence, as declared: {offer.build.license}." in said
        assert "Estimate for" in said

    def test_a_gated_build_says_what_to_do(self, get):
        offer = select(get, lambda o: bool(o.build.gated))
        at = get.model.find(lambda o: o is offer)
        assert get.model.text(at, 3).endswith("gated")
        first, *_, last = get.pane.text.toPlainText().splitlines()
        page = f"https://huggingface.co/{offer.build.repository}"
        assert f"Open {page}, agree to them" in first
        assert last == f"Its page: {page}"
        assert "agreed to its maker's terms" in first
        assert "make a token" in first

    def test_a_split_set_names_its_files(self, get):
        select(get, lambda o: len(o.build.files) == 2)
        said = plain(get.pane.text.toPlainText())
        assert "-00001-of-00002.gguf (20.0 GB), " in said
        assert "-00002-of-00002.gguf (19.6 GB)." in said

    def test_what_is_here_is_measured_and_run_not_got(self, get):
        select(get, lambda o: o.held is builds_demo.OTHERS)
        assert can(get.measure)
        assert can(get.use)
        assert not get.get.isVisible()
        assert not get.get_and_measure.isVisible()
        assert "Kept by Ollama" in get.pane.text.toPlainText()

    def test_an_unfinished_one_is_got(self, get):
        select(get, lambda o: o.held is builds_demo.PART)
        assert can(get.get_and_measure)
        assert not get.measure.isVisible()

    def test_return_leads_to_what_can_be_done(self, qtbot, get):
        not_here(get)
        get.table.setFocus()
        qtbot.keyClick(get.table, Qt.Key.Key_Return)
        assert get.get_and_measure.hasFocus()


class TestHub:
    def test_it_is_asked_anew_and_says_when_it_was(self, qtbot, get, services):
        assert plain(get.asked.text()).startswith(LAST)
        press(qtbot, get, "Refresh from Hugging Face")
        assert services.of("offers")[-1] == (fits_demo.fits(4096), True)
        assert get.asked.text() == "Asking Hugging Face …"
        assert not get.ask.isEnabled()
        # what is known from before comes first
        services.post(builds_demo.offers_known(online=False))
        assert get.asked.text() == "Asking Hugging Face …"
        services.post(builds_demo.offers_known())
        assert plain(get.asked.text()).startswith(LAST)
        assert get.ask.isEnabled()

    def test_offline_is_no_error_page(self, qtbot, get, services):
        press(qtbot, get, "Refresh from Hugging Face")
        services.post(builds_demo.offers_known(online=False), builds_demo.offline())
        assert get._stack.currentIndex() == builds_get.FILLED
        assert len(shown(get.model)) == 11
        said = plain(get.asked.text())
        assert said.startswith(f"huggingface.co gave no answer: no connection. {LAST}")
        assert get.ask.isEnabled()

    def test_before_it_was_ever_asked_it_says_so(self, get, services):
        never = [
            replace(o, build=replace(o.build, listed_at=None)) for o in builds_demo.offers().offers
        ]
        services.post(OffersKnown(Offers(tuple(never))))
        said = "As shipped with Gram; Hugging Face (where most builds are published) was not asked"
        assert get.asked.text().startswith(said)

    def test_offline_before_it_was_ever_asked_is_not_called_unasked(self, get, services):
        bare = [
            replace(o, build=replace(o.build, listed_at=None)) for o in builds_demo.offers().offers
        ]
        told = builds_demo.offline().offers.told
        services.post(OffersKnown(Offers(tuple(bare), told=told)))
        assert "no connection. What is shown was shipped with Gram, " in get.asked.text()
        assert "was not asked" not in get.asked.text()

    def test_what_a_search_finds_stands_above_the_list(self, qtbot, get, services):
        get.search.setText("llama")
        press(qtbot, get, "Search Hugging Face")
        assert services.of("search") == [("llama",)]
        count = get.count.text()
        found(services)
        rows = texts(get.model, 0)
        assert rows[:3] == [
            "Llama-3.1-Nemotron-70B-Instruct-HF-GGUF\nbartowski",
            "Llama-3.2-3B-Instruct-GGUF\nunsloth",
            "Meta-Llama-3.1-8B-Instruct-GGUF\nlmstudio-community",
        ]
        assert len(rows) > 3
        assert get.count.text() == count
        assert get.asked.text().startswith("Hugging Face has 3 repositories with these words")
        # the first of them is ready to be looked at
        assert get.table.current.build.repository == builds_demo.FOUND[0]
        assert can(get.show_builds)
        assert not get.get.isVisible()
        assert "holds files of builds" in get.pane.text.toPlainText()

    def test_its_builds_are_shown(self, qtbot, get, services):
        search(qtbot, get, services)
        select(get, lambda o: o.build.repository == builds_demo.FOUND[1])
        press(qtbot, get, "Show builds")
        assert services.of("add") == [(builds_demo.FOUND[1],)]
        assert not get.show_builds.isEnabled()
        listed = [of_repository(builds_demo.FOUND[1], label) for label in ("Q4_K_M", "Q8_0")]
        longer = of_repository(f"{builds_demo.FOUND[1]}-old", "Q4_K_M")
        offers = (longer, *builds_demo.offers().offers, *listed)
        services.post(builds_demo.offers_known(offers=offers))
        assert get.table.current is listed[0]
        assert get.search.text() == builds_demo.FOUND[1]
        assert [o.build.repository for o in shown(get.model)][-2:] == [builds_demo.FOUND[1]] * 2
        # with the words what was found is back, without what was added
        get.search.setText("llama")
        rest = [o.build.repository for o in shown(get.model)][:3]
        assert rest[:2] == [builds_demo.FOUND[0], builds_demo.FOUND[2]]
        assert rest[2] not in builds_demo.FOUND

    def test_other_words_put_what_was_found_away(self, qtbot, get, services):
        search(qtbot, get, services)
        get.search.setText("llam")
        assert not any(map(is_found, shown(get.model)))
        assert not get.show_builds.isVisible()
        assert get.asked.text().startswith(LAST)

    def test_what_was_found_stays_above_in_any_choice(self, qtbot, get, services):
        get.show_only.choose(builds_get.WHOLLY)
        search(qtbot, get, services)
        assert [is_found(o) for o in shown(get.model)][:4] == [True, True, True, False]

    def test_return_goes_from_a_found_one_to_its_button(self, qtbot, get, services):
        search(qtbot, get, services)
        get.table.setFocus()
        qtbot.keyClick(get.table, Qt.Key.Key_Return)
        assert get.show_builds.hasFocus()

    def test_a_search_that_finds_nothing_says_so(self, qtbot, get, services):
        get.search.setText("nothing like this")
        qtbot.keyClick(get.search, Qt.Key.Key_Return)
        # what was asked for by something else is not its answer
        services.post(builds_demo.offers_known(online=False))
        assert get.asked.text() == "Asking Hugging Face …"
        services.post(builds_demo.offers_known())
        assert get.asked.text().startswith("Hugging Face knows no other repository")
        assert get._stack.currentIndex() == builds_get.EMPTY
        assert "Search for other words" in get.none.text()

    def test_a_search_that_fails_is_not_told_to_have_found_nothing(self, qtbot, get, services):
        get.search.setText("nothing like this")
        qtbot.keyClick(get.search, Qt.Key.Key_Return)
        reason = Reason("hub_unreachable", {"host": "huggingface.co", "detail": "silence"})
        services.post(BuildCallFailed(reason, "nothing like this"))
        assert "knows no other" not in get.asked.text()
        assert "Press Return to search" in get.none.text()

    def test_the_one_field_and_its_buttons_say_what_they_do(self, get):
        assert get.search.placeholderText() == "Search this list and Hugging Face"
        assert "Return searches Hugging Face" in get.search.toolTip()
        assert "where most builds are published" in get.search_hub.toolTip()
        assert get.ask.toolTip()
        assert get.add.toolTip()
        assert get.asked.text().endswith(". Return searches there too.")

    def test_a_mirror_is_called_by_its_host(self, get, page, services):
        services.post(builds_demo.hub_known("hf-mirror.com"))
        assert get.search_hub.text() == "Search hf-mirror.com"
        assert get.ask.text() == "Refresh from hf-mirror.com"
        assert "hf-mirror.com (a mirror of Hugging Face) was" in get.asked.text()
        not_here(get)
        assert "https://hf-mirror.com/bartowski/" in get.pane.text.toPlainText()

    def test_a_mirror_with_a_long_host_leaves_the_field_its_room(self, window, get, services):
        services.post(builds_demo.hub_known("models.artifacts.intranet.example.org"))
        assert get.search_hub.text() == "Search the mirror"
        assert window.minimumSizeHint().width() <= 1024

    def test_without_words_the_field_is_shown(self, qtbot, get, services):
        press(qtbot, get, "Search Hugging Face")
        assert services.of("search") == []
        assert get.search.hasFocus()

    def test_a_repository_is_added_by_its_name_and_shown(self, qtbot, get, services):
        get.show_only.choose(builds_get.WHOLLY)
        get.name.setText(" https://huggingface.co/somebody/Own-7B-GGUF ")
        press(qtbot, get, "Add")
        assert services.of("add") == [("https://huggingface.co/somebody/Own-7B-GGUF",)]
        services.post(builds_demo.offers_known())
        assert get.table.current.build.repository == "somebody/Own-7B-GGUF"
        assert [o.build.repository for o in shown(get.model)] == ["somebody/Own-7B-GGUF"]
        assert get.name.text() == ""

    def test_what_has_no_row_here_is_said_to_be_added(self, qtbot, page, services):
        page.get.name.setText("/data/models")
        qtbot.keyClick(page.get.name, Qt.Key.Key_Return)
        services.post(builds_demo.offers_known())
        assert page.banner.text == "/data/models was added."

    def test_what_cannot_be_added_says_why_and_the_name_stays(self, qtbot, page, services):
        page.get.name.setText("nobody/nothing")
        press(qtbot, page.get, "Add")
        reason = Reason("hub_unknown", {"host": "huggingface.co", "name": "nobody/nothing"})
        services.post(BuildCallFailed(reason, "nobody/nothing"))
        assert page.banner.text == "huggingface.co knows no nobody/nothing, or it is private."
        assert page.get.name.text() == "nobody/nothing"
        assert page.get.add.isEnabled()


class TestFetching:
    def test_get_asks_for_the_build_and_shows_a_strip(self, qtbot, page, services):
        name = begin(qtbot, page.get)
        assert services.of("fetch") == [(FetchRequest(name),)]
        strip = page.strips.strip(name)
        assert strip.isVisible()
        assert strip.progress.words == "Waiting: another download comes first"
        assert not page.get.get.isEnabled()
        assert page.strips.count.text() == "One download"

    def test_a_strip_has_progress_rate_and_time_left(self, qtbot, page, services):
        name = begin(qtbot, page.get)
        services.post(builds_demo.step(name))
        progress = page.strips.strip(name).progress
        said = "Downloading · 5.06 GB of 20.2 GB · 24.1 MB/s about 10 min left"
        assert plain(progress.words) == said
        assert progress._bar.value() == 250
        assert progress._bar.accessibleName() == f"Progress of {name}"

    def test_it_is_above_both_lists(self, qtbot, page):
        name = begin(qtbot, page.get)
        page.tabs.show_part(HERE)
        assert page.strips.strip(name).isVisible()

    def test_pause_resume_and_cancel(self, qtbot, page, services):
        name = begin(qtbot, page.get)
        services.post(builds_demo.step(name))
        strip = page.strips.strip(name)
        press(qtbot, strip, "Pause")
        assert services.builds[-1] == ("pause", name)
        services.post(builds_demo.step(name, FetchState.PAUSED, rate_bytes_s=None))
        assert plain(strip.progress.words).startswith("Paused · 5.06 GB of 20.2 GB")
        press(qtbot, strip, "Resume")
        assert services.builds[-1] == ("resume", name)
        services.post(builds_demo.step(name))
        press(qtbot, strip, "Cancel")
        assert services.builds[-1] == ("stop", name)
        services.post(FetchEnded(name, None, stopped=True))
        assert page.strips.strip(name) is None
        assert page.banner.text.endswith("was stopped; what has come stays.")
        assert page.get.get.isEnabled()

    def test_a_measurement_holds_it_up_and_it_says_so(self, qtbot, window, page, services):
        name = begin(qtbot, page.get)
        services.post(builds_demo.step(name))
        window.content.measure.measure()
        services.post(builds_demo.step(name, FetchState.PAUSED, rate_bytes_s=None))
        strip = page.strips.strip(name)
        assert strip.progress.words.startswith("Paused while something is measured")
        assert strip.pause.isHidden()
        services.post(demo.finished(), builds_demo.step(name))
        assert strip.progress.words.startswith("Downloading")
        assert not strip.pause.isHidden()

    def test_all_of_them_can_be_slowed_down(self, qtbot, page, services):
        begin(qtbot, page.get)
        page.strips.limit.choose(2)
        assert services.of("limit") == [(2_000_000.0,)]
        select(page.get, lambda o: o.held is builds_demo.PART)
        press(qtbot, page.get, "Get")
        # what is asked for later too
        assert services.of("fetch")[-1][0].limit_bytes_s == 2_000_000.0
        page.strips.limit.choose(0)
        assert services.of("limit")[-1] == (None,)

    def test_what_has_come_is_told_with_what_to_do_with_it(self, qtbot, page, services):
        name = begin(qtbot, page.get)
        services.post(builds_demo.ended(name))
        strip = page.strips.strip(name)
        assert plain(strip.banner.text).endswith("is here: 2.48 GB, every byte checked.")
        assert page.strips.going_on == frozenset()
        press(qtbot, strip, "How to run it")
        assert services.of("use") == [(builds_demo.HELD.name, None)]
        press(qtbot, strip, "Dismiss")
        assert page.strips.strip(name) is None
        assert not page.strips.isVisible()

    def test_what_had_not_to_be_fetched_says_so(self, qtbot, page, services):
        name = begin(qtbot, page.get)
        reason = Reason("download_elsewhere", {"name": name, "programs": "Ollama"})
        services.post(builds_demo.ended(name, builds_demo.OTHERS, reason=reason))
        assert "kept by Ollama" in page.strips.strip(name).banner.text

    def test_what_was_removed_for_it_is_named(self, qtbot, page, services):
        name = begin(qtbot, page.get)
        gone = (entry("Qwen3-4B-GGUF:Q4_K_M"),)
        services.post(builds_demo.ended(name, evicted=Evicted(2_500_000_000, gone)))
        said = plain(page.strips.strip(name).banner.accessibleName())
        assert "Removed to make room: Qwen3-4B-GGUF:Q4_K_M (2.50 GB)." in said

    def test_what_it_tells_on_the_way_stays_until_its_end(self, qtbot, page, services):
        name = begin(qtbot, page.get)
        strip = page.strips.strip(name)
        assert strip.told.isHidden()
        told = Reason("hub_unreachable", {"host": "huggingface.co", "detail": "silence"})
        services.post(builds_demo.step(name, told=told), builds_demo.step(name))
        assert strip.told.text().startswith("huggingface.co gave no answer: silence.")
        assert strip.told.isVisible()
        services.post(builds_demo.arrived(name))
        assert strip.told.isHidden()

    def test_a_download_that_was_not_begun_here_is_shown(self, page, services):
        services.post(builds_demo.step(NAME))
        assert page.strips.strip(NAME).isVisible()


def entry(name):
    path = builds_demo.HELD.files[0]
    return LibraryEntry(
        "ab" * 32, name, path, Kept.WHOLE, 1, 1, ours=True, pinned=False, url=None, used_at=None
    )


class TestRefusals:
    @pytest.mark.parametrize(
        ("code", "params", "words", "changed"),
        [
            (
                "download_metered",
                {"size_bytes": 4_900_000_000},
                "Download anyway",
                {"metered": True},
            ),
            ("download_not_run", {"detail": "It needs more."}, "Download anyway", {"anyway": True}),
            (
                "library_needs_room",
                {
                    "need_bytes": 4_900_000_000,
                    "names": "Qwen3-4B",
                    "freed_bytes": 5_100_000_000,
                },
                "Remove and download",
                {"make_room": True},
            ),
        ],
    )
    def test_they_are_asked_in_place_and_the_answer_asks_again(
        self, qtbot, page, services, code, params, words, changed
    ):
        name = begin(qtbot, page.get)
        services.post(builds_demo.failed(name, code, **params))
        strip = page.strips.strip(name)
        assert plain(strip.banner.text) == Reason(code, {"name": name, **params}).text()
        press(qtbot, strip, words)
        assert services.of("fetch")[-1] == (replace(FetchRequest(name), **changed),)
        assert not page.strips.strip(name).ended

    def test_answers_add_up(self, qtbot, page, services):
        name = begin(qtbot, page.get)
        services.post(builds_demo.failed(name, "download_metered", size_bytes=4_900_000_000))
        press(qtbot, page.strips.strip(name), "Download anyway")
        services.post(builds_demo.no_room(name))
        assert builds_demo.HELD.name in page.strips.strip(name).banner.text
        press(qtbot, page.strips.strip(name), "Remove and download")
        wanted = FetchRequest(name, metered=True, make_room=True)
        assert services.of("fetch")[-1] == (wanted,)

    def test_an_error_stays_with_what_to_do_and_can_be_tried_again(self, qtbot, page, services):
        name = begin(qtbot, page.get)
        services.post(builds_demo.failed(name, "download_failed", detail="it broke"))
        strip = page.strips.strip(name)
        assert strip.banner.text == f"{name} could not be downloaded: it broke."
        assert "Check the connection" in strip.banner.accessibleName()
        assert strip.banner.accessibleName().startswith("Error: ")
        assert page.get.get.isEnabled()
        press(qtbot, strip, "Try again")
        assert services.of("fetch") == [(FetchRequest(name),)] * 2

    def test_a_gated_one_says_what_to_do(self, qtbot, page, services):
        name = begin(qtbot, page.get)
        services.post(builds_demo.gated(name))
        said = page.strips.strip(name).banner.accessibleName()
        assert (
            f"Open https://huggingface.co/{name.removeprefix('hf.co/').partition(':')[0]}," in said
        )
        # its repository's name says which it is
        assert name not in said

    def test_an_error_that_names_no_build_is_told_with_its_name(self, qtbot, page, services):
        name = begin(qtbot, page.get)
        services.post(
            builds_demo.failed(name, "hub_unreachable", host="huggingface.co", detail="silence")
        )
        text = page.strips.strip(name).banner.text
        assert text == f"{name}: huggingface.co gave no answer: silence."

    def test_a_call_that_fails_ends_its_strip(self, qtbot, page, services):
        name = begin(qtbot, page.get)
        services.post(BuildCallFailed(Reason("hub_address"), name))
        assert page.strips.strip(name).ended
        assert "HF_ENDPOINT" in page.strips.strip(name).banner.text
        assert page.banner.text == ""


NO_KEYCHAIN = Reason("token_no_keychain", {"detail": "no session"})


@pytest.fixture
def gated(get):
    """One whose maker's terms have to be agreed to, selected."""
    return select(get, lambda o: bool(o.build.gated))


@pytest.fixture
def opened():
    """Addresses that a browser was given."""
    taken = Opened()
    QDesktopServices.setUrlHandler("https", taken, "take")
    yield taken.addresses
    QDesktopServices.unsetUrlHandler("https")


class Opened(QObject):
    def __init__(self):
        super().__init__()
        self.addresses = []

    @Slot(QUrl)
    def take(self, url):
        self.addresses.append(url.toString())


class TestToken:
    def test_with_a_token_it_is_fetched_at_once(self, qtbot, section, get, services, gated):
        press(qtbot, get, "Get")
        assert services.of("fetch") == []
        assert services.of("token") == [()]
        services.post(builds_demo.token_known(TokenSource.ENVIRONMENT))
        assert services.of("fetch") == [(FetchRequest(gated.build.name),)]
        assert section.place == LIST

    @pytest.mark.parametrize("source", [TokenSource.NONE, TokenSource.LOCKED])
    def test_without_one_it_leads_to_where_it_is_given(
        self, qtbot, section, get, services, gated, source
    ):
        press(qtbot, get, "Get and measure")
        services.post(builds_demo.token_known(source, NO_KEYCHAIN))
        assert section.place == TOKEN
        assert services.of("fetch") == []
        panel = section.tokens.panel
        assert plain(panel.title.text()) == f"{gated.build.repository} is gated"
        assert panel.banner.text == Reason("token_no_keychain", {"detail": "no session"}).text()
        assert panel.keep.text() == "Keep the token and go on"

    def test_its_page_and_the_one_of_tokens_are_named_and_opened(
        self, qtbot, section, get, services, gated, opened
    ):
        press(qtbot, get, "Give a token")
        panel, repository = section.tokens.panel, gated.build.repository
        assert plain(panel.page.text.text()) == f"https://huggingface.co/{repository}"
        press(qtbot, panel, "Open the page")
        press(qtbot, panel, "Open the page of tokens")
        assert opened == [
            f"https://huggingface.co/{repository}",
            "https://huggingface.co/settings/tokens",
        ]
        press(qtbot, panel.page, "Copy")
        assert QGuiApplication.clipboard().text() == opened[0]

    def test_a_token_is_hidden_kept_and_what_was_wanted_goes_on(
        self, qtbot, window, section, page, services, gated
    ):
        press(qtbot, page.get, "Get and measure")
        services.post(builds_demo.token_known(TokenSource.NONE))
        panel = section.tokens.panel
        assert panel.token.echoMode() is QLineEdit.EchoMode.Password
        qtbot.keyClicks(panel.token, " hf_geheim ")
        press(qtbot, panel, "Keep the token and go on")
        assert services.of("keep") == [("hf_geheim",)]
        assert not panel.keep.isEnabled()
        services.post(TokenKept(TokenState("huggingface.co", TokenSource.KEYCHAIN)))
        assert panel.token.text() == ""
        assert section.place == LIST
        assert page.banner.text == "The token is kept in the keychain, for huggingface.co."
        assert services.of("fetch") == [(FetchRequest(gated.build.name),)]
        services.post(builds_demo.arrived(gated.build.name))
        assert len(services.requests) == 1

    def test_one_that_is_not_taken_says_why_and_can_be_tried_again(
        self, qtbot, section, get, services, gated
    ):
        press(qtbot, get, "Give a token")
        panel = section.tokens.panel
        qtbot.keyClicks(panel.token, "hf_falsch")
        qtbot.keyClick(panel.token, Qt.Key.Key_Return)
        services.post(TokenFailed(Reason("hub_token", {"host": "huggingface.co"})))
        assert panel.banner.text == "huggingface.co does not accept the token."
        assert panel.token.text() == "hf_falsch"
        qtbot.keyClick(panel.token, Qt.Key.Key_Return)
        assert len(services.of("keep")) == 2

    def test_nothing_is_kept_of_an_empty_field(self, qtbot, section, get, services, gated):
        press(qtbot, get, "Give a token")
        press(qtbot, section.tokens.panel, "Keep the token")
        assert services.of("keep") == []
        assert section.tokens.panel.token.hasFocus()

    def test_it_can_go_on_without_one(self, qtbot, section, get, services, gated):
        press(qtbot, get, "Get")
        services.post(builds_demo.token_known(TokenSource.NONE))
        press(qtbot, section.tokens.panel, "Go on without a token")
        assert services.of("fetch") == [(FetchRequest(gated.build.name),)]
        assert section.place == LIST

    def test_the_way_back_forgets_what_was_typed_and_wanted(
        self, qtbot, section, page, services, gated
    ):
        press(qtbot, page.get, "Get and measure")
        services.post(builds_demo.token_known(TokenSource.NONE))
        panel = section.tokens.panel
        qtbot.keyClicks(panel.token, "hf_geheim")
        press(qtbot, panel, "Back")
        assert section.place == LIST
        assert panel.token.text() == ""
        press(qtbot, page.get, "Give a token")
        assert panel.without.isHidden()
        services.post(TokenKept(TokenState("huggingface.co", TokenSource.KEYCHAIN)))
        assert services.of("fetch") == []
        services.post(builds_demo.arrived(gated.build.name))
        assert services.requests == []

    def test_it_says_which_one_is_sent_already(self, qtbot, section, get, services, gated):
        press(qtbot, get, "Give a token")
        services.post(builds_demo.token_known(TokenSource.KEYCHAIN))
        assert section.tokens.panel.banner.text.startswith("A token is kept for huggingface.co")
        services.post(builds_demo.token_known(TokenSource.ENVIRONMENT))
        assert "HF_TOKEN" in section.tokens.panel.banner.text
        assert section.place == TOKEN

    def test_a_hub_that_cannot_be_named_is_told_in_the_list(
        self, qtbot, section, page, services, gated
    ):
        press(qtbot, page.get, "Get and measure")
        services.post(TokenFailed(Reason("hub_address")))
        assert "HF_ENDPOINT" in page.banner.text
        assert section.place == LIST

    def test_a_refused_download_leads_to_it_and_goes_on(self, qtbot, section, page, services):
        name = begin(qtbot, page.get)
        services.post(builds_demo.gated(name))
        press(qtbot, page.strips.strip(name), "Give a token")
        panel = section.tokens.panel
        assert section.place == TOKEN
        repository = name.removeprefix("hf.co/").partition(":")[0]
        assert plain(panel.page.text.text()) == f"https://huggingface.co/{repository}"
        services.post(TokenKept(TokenState("huggingface.co", TokenSource.KEYCHAIN)))
        assert services.of("fetch") == [(FetchRequest(name),)] * 2

    def test_a_private_repository_leads_to_it(self, qtbot, section, page, services):
        reason = Reason("hub_unknown", {"host": "huggingface.co", "name": "me/private"})
        services.post(BuildCallFailed(reason, "me/private"))
        press(qtbot, page.banner, "Give a token")
        assert section.place == TOKEN
        assert section.tokens.panel.terms.isHidden()
        assert section.tokens.panel.title.text() == "A token for Hugging Face"

    def test_what_is_open_or_here_asks_for_none(self, get):
        not_here(get)
        assert not get.token.isVisible()
        select(get, lambda o: o.held is builds_demo.OTHERS)
        assert not get.token.isVisible()


class TestMeasuring:
    def test_one_click_gets_and_measures(self, qtbot, window, page, services):
        name = begin(qtbot, page.get, "Get and measure")
        assert services.of("fetch") == [(FetchRequest(name),)]
        services.post(builds_demo.step(name))
        assert services.requests == []
        services.post(builds_demo.ended(name))
        assert [r.build for r in services.requests] == [str(builds_demo.HELD.files[0])]
        assert window.content.page == MEASURE
        assert plain(window.content.measure.build.title.text()) == builds_demo.HELD.name
        assert page.strips.strip(name) is None

    def test_get_alone_measures_nothing(self, qtbot, window, page, services):
        name = begin(qtbot, page.get)
        services.post(builds_demo.ended(name))
        assert services.requests == []
        assert window.content.page == BUILDS

    def test_nobody_is_taken_away_from_another_page(self, qtbot, window, page, services):
        name = begin(qtbot, page.get, "Get and measure")
        window.content.show_page(RESULTS)
        services.post(builds_demo.ended(name))
        assert len(services.requests) == 1
        assert window.content.page == RESULTS

    def test_what_is_measured_then_survives_a_question(self, qtbot, page, services):
        name = begin(qtbot, page.get, "Get and measure")
        services.post(builds_demo.failed(name, "download_metered", size_bytes=4_900_000_000))
        press(qtbot, page.strips.strip(name), "Download anyway")
        services.post(builds_demo.ended(name))
        assert len(services.requests) == 1

    def test_a_stopped_download_measures_nothing_later(self, qtbot, page, services):
        name = begin(qtbot, page.get, "Get and measure")
        services.post(FetchEnded(name, None, stopped=True))
        press(qtbot, page.get, "Get")
        services.post(builds_demo.ended(name))
        assert services.requests == []

    def test_it_waits_for_what_is_measured_already(self, qtbot, window, page, services):
        name = begin(qtbot, page.get, "Get and measure")
        window.content.measure.measure()
        services.post(builds_demo.ended(name))
        assert len(services.requests) == 1
        services.post(RunFailed(Reason("cancelled"), cancelled=True))
        qtbot.waitUntil(lambda: len(services.requests) == 2)
        assert services.requests[1].build == str(builds_demo.HELD.files[0])

    def test_what_is_here_is_measured_where_it_is(self, qtbot, window, page, services):
        select(page.get, lambda o: o.held is builds_demo.OTHERS)
        press(qtbot, page.get, "Measure")
        assert services.requests[0].build == str(builds_demo.OTHERS.files[0])
        assert window.content.page == MEASURE

    def test_while_something_is_measured_nothing_else_can_be(self, window, page):
        page.tabs.show_part(HERE)
        select(page.here, lambda h: h is builds_demo.HELD)
        assert page.here.measure.isEnabled()
        window.content.measure.measure()
        select(page.get, lambda o: o.held is builds_demo.OTHERS)
        assert not page.here.measure.isEnabled()
        assert not page.get.measure.isEnabled()
        assert not page.here.delete.isEnabled()


class TestHere:
    def test_what_it_takes_stands_on_top(self, page, services):
        said = "Gram's builds take 14.8 GB of 20.5 GB; 210 GB are free."
        assert plain(page.about.text()) == said
        services.post(replace_shelf(budget_bytes=None, free_bytes=None))
        assert plain(page.about.text()) == "Gram's builds take 14.8 GB."

    def test_each_row_says_what_it_is(self, here):
        rows = [tuple(map(plain, here.model.row(i))) for i in range(5)]
        assert rows[0][0] == "Llama-3.2-1B-Instruct-GGUF:BF16\nhf.co/bartowski"
        assert rows[0][1:3] == ("2.48 GB", "Gram")
        assert rows[0][4] == "whole"
        assert rows[1][2] == "Gram\nLM Studio"
        assert rows[1][4] == "whole\npinned"
        assert [row[4] for row in rows[2:4]] == ["unfinished", "damaged"]
        assert rows[2][1].endswith("\nof 39.6 GB")
        assert rows[4][0] == "hermes3:8b-llama3.1-q8_0"
        assert rows[4][2:4] == ("Ollama", "–")  # noqa: RUF001 - the dash that is shown

    def test_the_choice_tells_how_many(self, page):
        assert page.tabs.bar.tabText(HERE) == "Here (5)"

    def test_none_is_told(self, here, services):
        services.post(builds_demo.shelf_known(), replace_shelf(held=()))
        assert here._stack.currentIndex() == builds_here.EMPTY
        assert here.none.text().startswith("No build is on this machine yet.")

    def test_what_could_not_be_read_is_told(self, here, services):
        reason = Reason("on_disk_no_folder", {"name": "/data/models"})
        services.post(replace_shelf(told=(reason,)))
        assert "/data/models" in here.pane.text.toPlainText()

    def test_others_are_used_and_never_removed(self, here):
        select(here, lambda h: h is builds_demo.OTHERS)
        assert "Gram never changes or removes it" in here.pane.text.toPlainText()
        assert here.measure.isEnabled()
        assert here.use.isEnabled()
        assert not here.delete.isEnabled()
        assert not here.pin.isEnabled()
        assert not here.check.isEnabled()

    def test_one_whose_files_are_not_known_can_be_looked_at(self, here, services):
        services.post(builds_demo.shelf_known(replace(builds_demo.HELD, files=())))
        here.table.selectRow(0)
        said = here.pane.text.toPlainText()
        assert said.splitlines()[-1] == f"sha256 {builds_demo.HELD.sha256}"

    def test_an_unfinished_one_can_be_deleted_but_not_run(self, here):
        select(here, lambda h: h is builds_demo.PART)
        assert not here.measure.isEnabled()
        assert not here.use.isEnabled()
        assert here.delete.isEnabled()

    def test_delete_tells_the_size_and_asks(self, qtbot, page, here, services):
        select(here, lambda h: h is builds_demo.PINNED)
        press(qtbot, here, "Delete")
        assert services.of("delete") == []
        said = plain(here.question.accessibleName())
        assert said.startswith(f"Warning: Delete {builds_demo.PINNED.name}?")
        assert said.endswith("2.50 GB on the disk; 2.50 GB become free. It is pinned.")
        keep, delete = answer(here, "Keep it"), answer(here, "Delete it")
        assert keep.hasFocus()
        # what is pressed without looking deletes nothing
        qtbot.keyClick(keep, Qt.Key.Key_Return)
        assert here.question.text == ""
        assert not delete.isVisible()
        assert services.of("delete") == []
        press(qtbot, here, "Delete")
        press(qtbot, here, "Delete it")
        assert services.of("delete") == [(builds_demo.PINNED.sha256,)]
        services.post(BuildRemoved(builds_demo.PINNED.name, 2_497_280_256))
        assert plain(page.banner.text).endswith("was deleted: 2.50 GB became free.")
        assert services.builds[-1][0] == "offers"

    def test_a_question_goes_with_its_row(self, qtbot, here, services):
        select(here, lambda h: h is builds_demo.HELD)
        press(qtbot, here, "Delete")
        select(here, lambda h: h is builds_demo.PINNED)
        assert here.question.text == ""
        assert services.of("delete") == []

    def test_a_refused_deletion_says_why(self, here, page, services):
        services.post(BuildCallFailed(Reason("library_measuring", {"name": "x"}), "ab" * 32))
        assert page.banner.text.startswith("A measurement is running")

    def test_pin_and_unpin(self, qtbot, here, services):
        select(here, lambda h: h is builds_demo.HELD)
        press(qtbot, here, "Pin")
        assert services.of("pin") == [(builds_demo.HELD.sha256, True)]
        services.post(
            builds_demo.shelf_known(replace(builds_demo.HELD, pinned=True), builds_demo.OTHERS)
        )
        # the same build is still the selected one
        press(qtbot, here, "Unpin")
        assert services.of("pin")[-1] == (builds_demo.HELD.sha256, False)

    def test_check_again_has_progress_and_says_what_it_found(self, qtbot, page, here, services):
        held = select(here, lambda h: h is builds_demo.HELD)
        press(qtbot, here, "Check again")
        assert services.of("verify") == [(held.sha256,)]
        assert not here.check.isEnabled()
        services.post(builds_demo.step(held.name, FetchState.CHECKING, rate_bytes_s=None))
        strip = page.strips.strip(held.name)
        assert plain(strip.progress.words).startswith("Checking every byte · 619 MB of 2.48 GB")
        assert strip.pause.isHidden()
        services.post(BuildChecked(held.name, Checked(entry(held.name))))
        assert page.strips.strip(held.name) is None
        assert page.banner.text == f"{held.name}: every byte is right."
        assert here.check.isEnabled()

    def test_a_check_that_finds_damage_says_so(self, qtbot, page, here, services):
        held = select(here, lambda h: h is builds_demo.HELD)
        press(qtbot, here, "Check again")
        told = Reason("library_damaged", {"name": held.name, "aside": "x.damaged"})
        services.post(BuildChecked(held.name, Checked(entry(held.name), told)))
        assert "set aside as x.damaged" in page.banner.text
        assert services.builds[-2] == ("shelf",)

    def test_a_check_can_be_stopped(self, qtbot, page, here, services):
        held = select(here, lambda h: h is builds_demo.HELD)
        press(qtbot, here, "Check again")
        press(qtbot, page.strips, "Cancel")
        assert services.builds[-1] == ("stop", held.name)
        services.post(FetchEnded(held.name, None, stopped=True))
        assert page.strips.strip(held.name) is None
        assert page.banner.text == ""

    def test_a_check_that_cannot_be_made_says_why_at_its_strip(self, qtbot, page, here, services):
        held = select(here, lambda h: h is builds_demo.HELD)
        press(qtbot, here, "Check again")
        reason = Reason("library_unknown", {"name": held.name})
        services.post(BuildCallFailed(reason, held.sha256))
        assert "There is no build" in page.strips.strip(held.name).banner.text
        assert here.check.isEnabled()


def answer(here, text):
    [button] = [b for b in here.question.findChildren(QPushButton) if b.text() == text]
    return button


def replace_shelf(**changes):
    known = builds_demo.shelf_known()
    return replace(known, shelf=replace(known.shelf, **changes))


class TestUse:
    def test_each_program_has_its_command_to_copy(self, qtbot, section, page, services):
        offer = select(page.get, lambda o: o.held is builds_demo.HELD)
        press(qtbot, page.get, "How to run it")
        assert services.of("use") == [(builds_demo.HELD.name, offer.fit)]
        services.post(builds_demo.use_known())
        assert section.place == USE
        panel = section.use
        assert plain(panel.title.text()) == f"How to run {builds_demo.HELD.name}"
        ways = builds_demo.use_known().use.ways
        copies = {b.accessibleName(): b for b in panel.findChildren(QPushButton)}
        qtbot.mouseClick(copies["Copy: Command of llama-server"], Qt.MouseButton.LeftButton)
        assert QGuiApplication.clipboard().text() == ways[0].command
        qtbot.mouseClick(copies["Copy the file: File of Ollama"], Qt.MouseButton.LeftButton)
        assert QGuiApplication.clipboard().text() == ways[1].file
        assert panel.copied.text() == "Copied: File of Ollama"
        assert panel.told.isHidden()

    def test_each_text_is_shown_whole(self, qtbot, section, page, services):
        services.post(builds_demo.use_known())
        qtbot.waitUntil(lambda: len(visible_cards(section.use)) == 3)
        shown_texts = section.use.findChildren(Reading)
        bars = [text.verticalScrollBar() for text in shown_texts]
        assert len(bars) == 4
        qtbot.waitUntil(lambda: not any(bar.maximum() for bar in bars))
        # and no higher than it is
        for text in shown_texts:
            lines = round(text.document().size().height())
            assert text._high(lines) == text.height()

    def test_there_is_a_way_back(self, qtbot, section, page, services):
        services.post(builds_demo.use_known())
        qtbot.keyClick(section.use.back, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
        assert section.place == LIST
        services.post(builds_demo.use_known())
        press(qtbot, section.use, "Back")
        assert section.place == LIST

    def test_another_build_takes_its_place(self, qtbot, section, page, services):
        services.post(builds_demo.use_known(), builds_demo.use_known())
        qtbot.waitUntil(lambda: len(visible_cards(section.use)) == 3)
        assert visible_cards(section.use) == section.use._shown

    def test_what_cannot_be_told_says_why(self, qtbot, page, services):
        services.post(BuildCallFailed(Reason("library_unknown", {"name": "x"}), "x"))
        assert page.banner.text.startswith("There is no build x")


def visible_cards(panel):
    return [card for card in panel.findChildren(Card) if card.isVisible()]


def reachable(window):
    return [
        w
        for w in window.findChildren(QWidget)
        if w.isVisible() and w.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]


@pytest.mark.parametrize("part", [0, 1])
def test_everything_reachable_has_a_name(qtbot, window, page, services, part):
    not_here(page.get)
    page.get.search.setText("llama")
    press(qtbot, page.get, "Search Hugging Face")
    services.post(builds_demo.offers_known(found=builds_demo.FOUND), builds_demo.step(NAME))
    services.post(builds_demo.failed("hf.co/a/b:Q8_0", "download_failed", detail="x"))
    page.tabs.show_part(part)
    found = reachable(window)
    nameless = [
        w for w in found if not QAccessible.queryAccessibleInterface(w).text(QAccessible.Text.Name)
    ]
    assert len(found) >= 12
    assert not nameless


def test_the_token_panel_has_names_and_room(qtbot, window, section, page, services):
    window.resize(1024, 640)
    qtbot.waitUntil(lambda: window.height() == 640)
    longest = f"{'o' * 40}/{'Long-Name' * 10}-GGUF"
    offer = of_repository(longest, "Q4_K_M")
    offer = replace(offer, build=replace(offer.build, gated=True))
    services.post(builds_demo.offers_known(offers=(offer,)))
    page.get.table.selectRow(0)
    press(qtbot, page.get, "Give a token")
    panel = section.tokens.panel
    qtbot.waitUntil(panel.keep.isVisible)
    within = [w for w in reachable(window) if panel.isAncestorOf(w)]
    names = [QAccessible.queryAccessibleInterface(w).text(QAccessible.Text.Name) for w in within]
    assert len(names) == len(set(names)) == 7
    assert all(names)
    assert window.minimumSizeHint().width() <= 1024
    for button in panel.findChildren(QPushButton):
        assert button.mapTo(window, button.rect().topRight()).x() < window.width()


def test_a_token_cannot_be_taken_back_out_of_its_field(qtbot, section, get, gated):
    press(qtbot, get, "Give a token")
    panel = section.tokens.panel
    qtbot.keyClicks(panel.token, "hf_geheim")
    press(qtbot, panel, "Back")
    panel.token.undo()
    assert panel.token.text() == ""


def test_buttons_that_are_called_alike_are_told_apart(page, services):
    services.post(builds_demo.step(NAME), builds_demo.step("hf.co/a/b:Q8_0"))
    names = [
        b.accessibleName() for b in page.strips.findChildren(QPushButton) if b.text() == "Pause"
    ]
    assert names == [f"Pause: {NAME}", "Pause: hf.co/a/b:Q8_0"]


def test_tab_goes_from_top_to_bottom(qtbot, page):
    not_here(page.get)
    get, order = page.get, []
    wanted = [get.search, get.search_hub, get.show_only, get.sort_by, get.name, get.add, get.ask]
    wanted += [get.table, get.pane.text, get.get_and_measure, get.get]
    at = get.search
    while len(order) < len(wanted):
        if at.isVisible() and at.focusPolicy() & Qt.FocusPolicy.TabFocus:
            order.append(at)
        at = at.nextInFocusChain()
    assert order == wanted


@pytest.mark.parametrize("size", [(1024, 640), (1280, 800)])
@pytest.mark.parametrize("part", [0, 1])
def test_nothing_is_wider_than_the_window(qtbot, window, page, services, size, part):
    services.post(builds_demo.step(NAME))
    page.tabs.show_part(part)
    (page.get if part == 0 else page.here).table.selectRow(1)
    window.resize(*size)
    qtbot.waitUntil(lambda: window.width() == size[0])
    assert window.minimumSizeHint().width() <= size[0]
    for button in window.findChildren(QPushButton):
        if button.isVisible():
            right = button.mapTo(window, button.rect().topRight()).x()
            assert right < window.width(), button.text()
            assert button.width() >= button.sizeHint().width(), button.text()


@pytest.mark.parametrize("part", [0, 1])
def test_a_low_window_shows_rows_and_nothing_lies_over_them(qtbot, window, page, services, part):
    services.post(builds_demo.step(NAME))
    page.tabs.show_part(part)
    window.resize(1024, 640)
    qtbot.waitUntil(lambda: window.height() == 640)
    shown_part = page.get if part == 0 else page.here
    table = shown_part.table
    assert table.viewport().height() >= 3 * table.row_height
    assert shown_part.pane.geometry().top() > shown_part._stack.geometry().bottom()


def test_found_repositories_push_nothing_out_of_a_low_window(qtbot, window, page, services):
    window.resize(1024, 640)
    qtbot.waitUntil(lambda: window.height() == 640)
    search(qtbot, page.get, services)
    qtbot.waitUntil(page.get.show_builds.isVisible)
    button = page.get.show_builds
    bottom = button.mapTo(window, button.rect().bottomLeft()).y()
    assert bottom < window.height()


def test_the_made_up_builds_agree_with_each_other():
    """Pictures are looked at by people who add up."""
    offers, shelf = builds_demo.offers().offers, builds_demo.shelf()
    for offer in offers:
        if offer.held is not None and offer.held.ours:
            assert offer.held.name == offer.build.name
        if offer.held is not None and offer.held.kept is Kept.WHOLE:
            assert offer.held.size_bytes == offer.build.size_bytes
        if offer.build.files:
            assert sum(file.size_bytes for file in offer.build.files) == offer.build.size_bytes
    own = [held for held in shelf.held if held.ours]
    assert shelf.kept_bytes == sum(held.size_bytes for held in own)
    wanted = next(o for o in offers if o.build.gated)
    params = builds_demo.no_room(wanted.build.name).reason.params
    assert params["need_bytes"] == wanted.build.size_bytes
    gone = [held for held in own if held.name in params["names"].split(", ")]
    assert not any(held.pinned for held in gone)
    assert params["freed_bytes"] == sum(held.freed_bytes for held in gone)
    left = shelf.kept_bytes + params["need_bytes"] - shelf.budget_bytes
    assert 0 < left <= params["freed_bytes"]
    assert builds_demo.step(wanted.build.name).total_bytes == wanted.build.size_bytes


def test_its_events_change_nothing_before_the_first_look(window, services):
    services.post(builds_demo.shelf_known(), builds_demo.offers_known(), builds_demo.step(NAME))
    assert window.content.builds._section is None
    assert services.builds == []


def test_the_rail_has_it(window):
    assert window.content.rail._group.button(BUILDS).text() == "Builds"
