"""The window's questions about estimates: who is answered, with what, and what is told instead."""

import queue
import threading

import pytest

from desktop.estimate.page import page_of
from desktop.records.events import FitsKnown
from desktop.records.fits import FitsRequest
from desktop.services import profiles
from desktop.services.estimate_events import (
    DevicePageKnown,
    FitsFailed,
    FitsGoOn,
    HerePageKnown,
    ModelPageKnown,
    PageFailed,
)
from desktop.services.newest import Newest
from desktop.services.page_calls import PageCalls
from desktop.services.slow import SlowCalls

MODEL = "llama-3.2-1b-instruct"
DEVICE = "geforce-rtx-3060-12gb"
WAIT_S = 60


@pytest.fixture
def asked(home):
    """The calls with a real thread and a real, empty ledger; and what they tell."""
    slow, told = SlowCalls(), queue.SimpleQueue()
    calls = PageCalls(home, slow, told.put)
    calls.steps, calls.rows = [], []
    calls.told = lambda: _answer(told, calls)
    calls.slow, calls.silent = slow, told.empty
    calls.so_far = lambda: [told.get() for _ in range(told.qsize())]
    yield calls
    slow.shutdown()


class TestNewest:
    def test_only_the_last_question_is_answered(self):
        newest = Newest()
        first, second = newest.only(lambda: 1), newest.only(lambda: 2)
        assert (first(), second()) == (None, 2)

    def test_an_answer_that_is_overtaken_while_it_is_made_is_none(self):
        newest = Newest()
        assert newest.only(lambda: newest.ask().number)() is None

    def test_a_question_holds_until_the_next(self):
        newest = Newest()
        ask = newest.ask()
        assert ask.holds
        newest.ask()
        assert not ask.holds


class TestPages:
    def test_a_models_page_is_that_of_the_terminal_with_this_machine_above(self, asked):
        asked.model(MODEL, 1023)
        told = asked.told()
        assert isinstance(told, ModelPageKnown)
        model = next(m for m in profiles.models() if m.id == MODEL)
        assert told.page.rows == page_of(model, profiles.own_profile(), (), 1023).rows
        assert [row.model.id for row in told.here.rows] == [MODEL]
        assert told.here.rows[0].estimate.use == told.page.sheet.use

    def test_a_devices_page_shows_the_quantization_that_was_asked_for(self, asked):
        asked.device(MODEL, DEVICE, 1023, "q4_0")
        told = asked.told()
        assert isinstance(told, DevicePageKnown)
        assert told.page.configuration.id == DEVICE
        assert told.page.shown.id == "q4_0"

    def test_every_quantization_on_this_machine(self, asked):
        asked.here(MODEL, 1023)
        told = asked.told()
        assert isinstance(told, HerePageKnown)
        assert {row.model.id for row in told.fits.rows} == {MODEL}
        labels = {row.quant.label for row in told.fits.rows}
        assert {"Q8_0", "Q4_K_M", "IQ4_NL"} <= labels

    @pytest.mark.parametrize(
        ("ask", "code"),
        [
            (lambda calls: calls.model("no-such-model", 1023), "model_unknown"),
            (lambda calls: calls.model(MODEL, 10_000_000), "estimate_beyond_context"),
            (lambda calls: calls.model(MODEL, -1), "bad_number"),
            (lambda calls: calls.device(MODEL, "no-such-device", 1023, None), "device_unknown"),
            (lambda calls: calls.device(MODEL, DEVICE, 1023, "q17"), "quant_unknown"),
            (lambda calls: calls.here(MODEL, -1), "bad_number"),
        ],
    )
    def test_what_cannot_be_made_is_told_with_its_reason(self, asked, ask, code):
        ask(asked)
        told = asked.told()
        assert isinstance(told, PageFailed)
        assert told.reason.code == code

    def test_of_many_questions_the_last_is_answered(self, asked):
        held = threading.Event()
        asked.slow.submit(held.wait)
        for position in (511, 1023, 2047):
            asked.model(MODEL, position)
        held.set()
        assert asked.told().page.sheet.use.depth == 2047
        asked.slow.submit(lambda: None).result(WAIT_S)
        assert asked.silent()


class TestFits:
    def requests(self, *contexts):
        return [FitsRequest(context=c, depth=c - 1, words=("smollm2",)) for c in contexts]

    def test_each_context_is_answered(self, asked):
        asked.fits(self.requests(512, 4096))
        told = [asked.told(), asked.told()]
        assert all(isinstance(event, FitsKnown) for event in told)
        assert [event.fits.request.context for event in told] == [512, 4096]

    def test_a_question_that_is_overtaken_gets_no_answer(self, asked):
        held = threading.Event()
        asked.slow.submit(held.wait)
        asked.fits(self.requests(512))
        asked.fits(self.requests(1024))
        held.set()
        assert asked.told().fits.request.context == 1024
        asked.slow.submit(lambda: None).result(WAIT_S)
        assert asked.silent()

    def test_other_calls_come_in_between_the_steps(self, asked):
        asked.fits([FitsRequest(context=512, depth=511, words=("qwen",))])
        asked.slow.submit(lambda: None).result(WAIT_S)
        # the thread has answered somebody else before the question was worked out
        assert not [event for event in asked.so_far() if isinstance(event, FitsKnown)]
        assert asked.told().fits.request.context == 512

    def test_it_tells_how_far_it_is(self, asked):
        asked.fits([FitsRequest(context=512, depth=511, words=("qwen",))])
        asked.told()
        assert len(asked.steps) >= 3
        assert asked.steps == sorted(asked.steps)
        assert 0 < asked.steps[0] < asked.steps[-1] == 1

    def test_rows_that_are_known_are_told_before_all_are(self, asked):
        asked.rows_every_ns = 0
        asked.fits([FitsRequest(context=512, depth=511, words=("qwen",), every_model=True)])
        whole = asked.told().fits
        counts = [len(fits.rows) for fits in asked.rows]
        assert len(counts) >= 3
        assert counts == sorted(counts)
        assert 0 < counts[0] < counts[-1] == len(whole.rows)
        assert asked.rows[-1] == whole

    def test_of_several_contexts_only_whole_answers_are_told(self, asked):
        asked.rows_every_ns = 0
        asked.fits(self.requests(512, 1024))
        asked.told()
        assert asked.steps
        assert not asked.rows

    def test_a_measurement_ends_what_is_worked_out(self, asked):
        held = threading.Event()
        asked.slow.submit(held.wait)
        asked.fits(self.requests(512))
        asked.rest()
        held.set()
        asked.slow.submit(lambda: None).result(WAIT_S)
        assert asked.silent()

    def test_an_absurd_context_is_told_as_the_reason(self, asked):
        asked.fits([FitsRequest(context=0)])
        told = asked.told()
        assert isinstance(told, FitsFailed)
        assert told.reason.code == "bad_number"

    def test_nothing_is_read_to_forget_what_was_never_read(self, asked):
        asked.forget()
        asked.slow.submit(lambda: None).result(WAIT_S)
        assert asked.silent()

    def test_what_was_measured_is_read_anew(self, asked):
        asked.fits(self.requests(512))
        asked.told()
        asked.forget()
        asked.fits(self.requests(512))
        assert asked.told().fits.request.context == 512


def _answer(told, calls):
    """The next event but steps, which are kept."""
    while isinstance(event := told.get(timeout=WAIT_S), FitsGoOn):
        calls.steps.append(event.fraction)
        calls.rows += [event.so_far] if event.so_far else []
    return event
