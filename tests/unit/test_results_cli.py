"""`gram results`, `gram verify`, `gram parts --last`: what was kept, in short, in full, as JSON."""

import contextlib
import errno
import io
import json
import logging
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.cli import main, results_show
from desktop.cli.output import after_keeping, say_output_failed
from desktop.cli.parts import _tell as tell_parts
from desktop.cli.run import _tell as tell_run
from desktop.cli.statements import unsigned_parts_json
from desktop.errors import CATALOGUE
from desktop.identity.envelope import seal
from desktop.identity.signer import Signer
from desktop.network.ledger import Ledger
from desktop.records.events import PartsFinished, RunFinished
from desktop.records.parts import Part, PartTest
from desktop.records.run import MemoryHeld, Note
from desktop.rules.marks import SIGNS
from desktop.rules.notes import WORDS
from desktop.rules.parts_rates import rates_of, work_of
from desktop.rules.statements import PARTS_TYPE, RUN_TYPE, parts_payload, run_payload
from desktop.settings import Settings
from tests.golden import full

SIGNER = Signer.from_seed(bytes(32))
BUILD = full.full_run().build.name
DOCUMENT = Path(__file__).parents[2] / "docs" / "results-json.md"


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def keep(home):
    def kept(kind, payload, value, number=0):
        body = payload(value, nonce=f"{number:032}", signed_at=full.SIGNED_AT)
        return Ledger(home.ledger).keep(seal(SIGNER, kind, body), full.SIGNED_AT)

    return kept


@pytest.fixture
def run_id(keep):
    return keep(RUN_TYPE, run_payload, full.full_run())


@pytest.fixture
def parts_id(keep):
    return keep(PARTS_TYPE, parts_payload, full.full_parts())


@pytest.fixture
def generating_id(keep):
    """Parts of one thread and of all, and of a card."""
    large, product = (4096, 1, 4096, 16), (512, 512, 512, 1)

    def part(test, threads, shape, ns, device="CPU"):
        return Part(device, test, threads, work_of(test, shape), (ns,) * 6, shape)

    parts = (
        part(PartTest.COPY, 1, (2**26,), 10_000_000),
        part(PartTest.MATMUL_F16, 1, product, 2_000_000),
        part(PartTest.MATVEC_F16, 1, large, 20_000_000),
        part(PartTest.MATVEC_Q4_0, 12, (4096, 1, 4096, 64), 10_000_000),
        part(PartTest.MATVEC_F16, 12, large, 25_000_000),
        part(PartTest.MATMUL_F16, 12, product, 1_000_000),
        part(PartTest.COPY, None, (2**26,), 1_000_000, "CUDA0"),
        part(PartTest.MATVEC_F16, None, large, 2_000_000, "CUDA0"),
    )
    return keep(PARTS_TYPE, parts_payload, replace(full.full_parts(), parts=parts, skipped=()))


@pytest.fixture
def gram(home, capsys):
    """Run `gram ARGS`; its status, what it printed, what it complained of."""

    def ran(*arguments):
        status = main(list(arguments))
        told = capsys.readouterr()
        return status, told.out, told.err

    return ran


class TestLists:
    def test_with_nothing_kept_it_says_how_to_begin(self, gram):
        assert gram("results") == (0, f"{results_show.NOTHING}\n", "")
        assert gram("results", "--json")[1] == "[]\n"
        assert gram("results", "--parts", "--json")[1] == "[]\n"
        assert "gram parts" in gram("results", "--parts")[1]

    def test_parts_alone_are_something_measured(self, gram, parts_id):
        _, said, _ = gram("results")
        assert results_show.NOTHING not in said
        assert "gram bench" in said
        assert parts_id[:8] in said
        # programs get the list of runs as ever, and that of parts where they ask for it
        assert json.loads(gram("results", "--json")[1]) == []
        [row] = json.loads(gram("results", "--parts", "--json")[1])
        assert (row["id"], row["key_id"], row["at"]) == (parts_id, SIGNER.key_id, full.AT)
        assert [d["device"] for d in row["devices"]] == ["CPU", "CUDA0"]
        assert row["devices"][0]["threads"] == 12
        assert row["devices"][0]["product"] is None
        assert row["notes"][:3] == ["too_few_repetitions", "caches_may_have_helped", "on_battery"]

    def test_parts_are_listed_by_what_prompts_and_generating_are_made_of(self, gram, generating_id):
        [row] = json.loads(gram("results", "--parts", "--json")[1])
        cpu, card = row["devices"]
        assert (cpu["threads"], card["threads"]) == (12, None)
        # one thread's copy is faster here than anything, and Q4_0 than F16
        assert (cpu["matrix_vector"]["test"], cpu["matrix_vector"]["threads"]) == ("matvec_f16", 12)
        assert (cpu["product"]["test"], cpu["product"]["threads"]) == ("matmul_f16", 12)
        assert card["matrix_vector"]["test"] == "matvec_f16"
        assert card["product"] is None
        _, said, _ = gram("results", "--parts")
        line = next(line for line in said.splitlines() if "12 threads" in line)
        assert "matrix-vector, F16" in said
        assert "product, F16" in said
        # 512 MiB in 25 ms, 2 x 512 ** 3 operations in 1 ms
        assert "21.5 GB/s" in line
        assert "0.268 TFLOP/s" in line or "268 GFLOP/s" in line

    def test_runs_and_parts_stand_one_below_the_other(self, gram, run_id, parts_id):
        _, said, _ = gram("results")
        assert 0 <= said.index(run_id[:8]) < said.index("Parts of this machine")
        assert said.index("Parts of this machine") < said.index(parts_id[:8])
        assert [row["id"] for row in json.loads(gram("results", "--json")[1])] == [run_id]
        _, only, _ = gram("results", "--parts")
        assert parts_id[:8] in only
        assert run_id[:8] not in only

    def test_a_rate_to_be_read_with_care_is_marked_and_a_line_says_why(self, gram, run_id):
        _, said, _ = gram("results")
        # one repetition of each test: 640 and 40 tok/s
        row = next(line for line in said.splitlines() if run_id[:8] in line)
        assert "640 ?" in row
        assert "40.0 ?" in row
        assert f"?  {WORDS[Note.FEW]}" in said
        assert WORDS[Note.SPREAD] not in said
        [told] = json.loads(gram("results", "--json")[1])
        assert told["prompt_marks"] == told["generation_marks"] == ["too_few_repetitions"]

    def test_a_wide_spread_is_marked(self, gram, keep):
        timed = full.REPETITIONS[2]
        ends = (100_000_000, 400_000_000) * 4
        wide = tuple(
            replace(timed, start_ns=s, end_ns=s + ns, step_ns=())
            for s, ns in zip(range(2 * 10**9, 10**10, 10**9), ends, strict=True)
        )
        keep(RUN_TYPE, run_payload, replace(full.full_run(), repetitions=wide, energy=()))
        _, said, _ = gram("results")
        assert f"% {SIGNS[Note.SPREAD]}" in said
        assert f"!  {WORDS[Note.SPREAD]}" in said

    @pytest.mark.parametrize("columns", [60, 80])
    def test_a_narrow_terminal_loses_nothing_that_matters(
        self, gram, run_id, generating_id, columns, monkeypatch
    ):
        monkeypatch.setenv("COLUMNS", str(columns))
        _, said, _ = gram("results")
        lines = said.splitlines()
        assert max(map(len, lines)) <= columns
        whole = "".join(line.strip() for line in lines)
        assert "…" not in whole
        assert BUILD in whole
        for words in (run_id[:8], "640 ?", "40.0 ?", generating_id[:8], "21.5 GB/s", "CUDA0"):
            assert any(words in line for line in lines), words


class TestInFull:
    @pytest.mark.parametrize("command", ["verify", "results"])
    def test_price_and_carbon_of_a_kept_run_are_derived_anew(self, gram, home, run_id, command):
        home.settings.write_text('place = "NL"\nhourly_rate_usd = 0.36\n')
        _, said, _ = gram(command, run_id[:10])
        assert "signed by ·" in said
        assert "Not signed: by the settings of today" in said
        # 40 tok/s are 144,000 tokens an hour
        assert "$2.50 per million tokens; derived: $0.360 an hour" in said
        assert "average of Netherlands" in said
        told = json.loads(gram(command, run_id[:10], "--json")[1])
        assert told["costs"]["price"]["usd_per_mtok"] == pytest.approx(2.5)
        home.settings.write_text("hourly_rate_usd = 0.72\n")
        assert "$5.00 per million tokens" in gram(command, run_id[:10])[1]

    def test_the_idle_baseline_stands_beside_the_load(self, gram, run_id):
        assert "Idle before it       21.5 W, sensor (" in gram("verify", run_id)[1]

    def test_what_a_strangers_run_cost_is_not_for_these_settings_to_say(
        self, gram, home, run_id, tmp_path
    ):
        home.settings.write_text("hourly_rate_usd = 0.36\n")
        file = tmp_path / "run.json"
        file.write_text(gram("results", "--export", run_id)[1])
        status, said, _ = gram("verify", str(file))
        assert status == 0
        assert "holds" in said
        assert "per million tokens" not in said
        assert json.loads(gram("verify", str(file), "--json")[1])["costs"] is None

    def test_grams_name_what_they_are_of(self, gram, home, run_id):
        home.settings.write_text('place = "NL"\n')
        carbon = json.loads(gram("verify", run_id, "--json")[1])["costs"]["carbon"]
        assert carbon["co2e_g_per_mtok"] > 0
        assert "co2e_g" not in carbon

    def test_parts_have_one_shape_for_programs_whoever_tells_of_them(self, gram, capsys, parts_id):
        told = [
            json.loads(gram(*arguments, "--json")[1])
            for arguments in (
                ("verify", parts_id[:9]),
                ("results", parts_id[:9]),
                ("parts", "--last"),
            )
        ]
        parts = full.full_parts()
        done = PartsFinished(parts, rates_of(parts), parts_id, SIGNER.key_id)
        assert tell_parts(done, as_json=True) == 0
        told.append(json.loads(capsys.readouterr().out))
        assert all(one == told[0] for one in told)
        assert told[0]["statement_id"] == told[0]["statement"]["id"] == parts_id
        assert told[0]["key_id"] == SIGNER.key_id
        assert [rate["test"] for rate in told[0]["rates"]] == ["matvec_q4_0", "copy"]
        assert told[0]["notes"][0] == "too_few_repetitions"
        unsigned = unsigned_parts_json(parts)
        assert list(unsigned) == list(told[0])
        assert unsigned["statement_id"] is None
        assert unsigned["rates"] == told[0]["rates"]

    def test_a_run_has_the_same_keys(self, gram, run_id, parts_id):
        run = json.loads(gram("verify", run_id, "--json")[1])
        assert list(run) == list(json.loads(gram("verify", parts_id, "--json")[1]))
        assert run["parts"] is run["rates"] is None
        assert run["notes"][:2] == ["too_few_repetitions", "on_battery"]

    def test_gram_bench_tells_of_a_run_as_gram_verify_does(self, gram, capsys, run_id):
        found = full.full_run()
        done = RunFinished(found, run_id, SIGNER.key_id)
        assert tell_run(done, Settings(), as_json=True) == 0
        told = json.loads(capsys.readouterr().out)
        assert told == json.loads(gram("verify", run_id, "--json")[1])
        assert tell_run(RunFinished(found, None, None), Settings(), as_json=True) == 0
        unsigned = json.loads(capsys.readouterr().out)
        assert list(unsigned) == list(told)
        assert unsigned["statement_id"] is None
        assert unsigned["run"]["rates"] == told["run"]["rates"]

    def test_the_marks_of_a_run_stand_at_its_rates(self, gram, run_id):
        _, said, _ = gram("results", run_id)
        assert "40.0 tok/s ?   (1 repetition, peak 40.0)" in said
        assert f"?  {WORDS[Note.FEW]}" in said


class TestBesideOtherPrograms:
    @pytest.fixture
    def busy_id(self, keep):
        run = full.full_run()
        after = replace(run.after, other_load_percent=63.6)
        return keep(RUN_TYPE, run_payload, replace(run, after=after))

    def test_a_run_says_how_busy_they_were_and_what_follows(self, gram, capsys, busy_id):
        told = "Other programs took 64 % of the processors meanwhile: the machine looks slower"
        for arguments in (("verify", busy_id), ("results", busy_id)):
            said = " ".join(gram(*arguments)[1].split())
            assert told in said
            assert "energy, carbon and price a token look higher" in said
        run = full.full_run()
        after = replace(run.after, other_load_percent=63.6)
        found = replace(run, after=after, notes=(Note.OTHER_LOAD,))
        assert tell_run(RunFinished(found, None, None), Settings(), as_json=False) == 0
        assert told in " ".join(capsys.readouterr().out.split())

    def test_the_list_has_notes_of_runs(self, gram, busy_id):
        _, said, _ = gram("results")
        head, row = said.splitlines()[:2]
        assert "notes" in head.split()
        assert "battery, other load" in row
        [told] = json.loads(gram("results", "--json")[1])
        assert told["notes"][:3] == ["too_few_repetitions", "on_battery", "other_load"]


class TestMemoryHeld:
    @pytest.mark.parametrize(
        ("backend", "peak_bytes", "said"),
        [
            ("CPU", 191_000_000, True),
            ("CPU", 212_000_000, False),
            ("CPU", None, False),
            ("CUDA", 191_000_000, False),
        ],
    )
    def test_that_less_is_touched_than_set_aside_is_said_where_it_is_so(
        self, capsys, backend, peak_bytes, said
    ):
        run = full.full_run()
        held = MemoryHeld(96_600_000, 11_800_000, 103_000_000, peak_bytes)
        engine = replace(run.engine, backend=backend)
        found = replace(run, memory=held, engine=engine)
        tell_run(RunFinished(found, None, None), Settings(), as_json=False)
        line = " ".join(capsys.readouterr().out.split())
        assert ("as not all that is set aside is touched" in line) is said


class TestNames:
    @pytest.mark.parametrize(
        "arguments",
        [("verify", ""), ("verify", " "), ("results", ""), ("results", "--export", "")],
    )
    def test_an_empty_name_names_nothing(self, gram, run_id, arguments):
        status, said, complaint = gram(*arguments)
        assert (status, said) == (1, "")
        assert CATALOGUE["nothing_named"].text in complaint
        told = json.loads(gram(*arguments, "--json")[1])
        assert told["error"]["code"] == "nothing_named"

    @pytest.mark.parametrize("name", ["zzzz", "abc", "run.json"])
    def test_what_is_neither_a_file_nor_an_id_is_told_as_both(self, gram, run_id, name):
        status, said, complaint = gram("verify", name)
        assert (status, said) == (1, "")
        assert f"There is no file {name}, and no result here whose id begins so." in complaint
        assert "gram results" in complaint

    def test_a_path_is_told_as_it_was_given(self, gram, run_id, tmp_path):
        for name in ("/nope", "sub/nope", str(tmp_path / "nope.json")):
            complaint = gram("verify", name)[2]
            assert f"There is no file {name}." in complaint
        assert f"{tmp_path} is a folder" in gram("verify", str(tmp_path))[2]

    def stdin(self, monkeypatch, told):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(told)))

    def test_a_dash_is_standard_input(self, gram, run_id, home, monkeypatch):
        envelope = Ledger(home.ledger).find(run_id).envelope_json
        self.stdin(monkeypatch, envelope.encode())
        status, said, _ = gram("verify", "-")
        assert status == 0
        assert run_id in said

    @pytest.mark.parametrize("told", [b"", b"\xff\xfe", b"{}", b" " * 9_000_000])
    def test_what_is_no_statement_there_is_told_so(self, gram, monkeypatch, told):
        self.stdin(monkeypatch, told)
        status, _, complaint = gram("verify", "-")
        assert status == 1
        assert "standard input is not a signed statement" in complaint

    def test_only_one_thing_is_asked_for_at_a_time(self, gram, run_id):
        assert gram("results", run_id, "--parts")[0] == 2
        assert gram("results", "--parts", "--export", run_id)[0] == 2

    def test_an_id_that_is_not_there(self, gram, home):
        status, _, complaint = gram("results", "abc")
        assert status == 1
        assert "No result here has an id that starts with abc" in complaint


class Full(io.StringIO):
    """A stream whose disk is full."""

    encoding = "utf-8"

    def write(self, _text):
        raise OSError(errno.ENOSPC, "No space left on device")


class TestOutputThatFails:
    KEPT = "The result is kept all the same"

    def complaint(self, capsys, error):
        say_output_failed(error)
        return capsys.readouterr().err

    @pytest.mark.parametrize("as_json", [True, False])
    def test_that_a_result_is_kept_is_said_where_one_was(
        self, capsys, monkeypatch, as_json, parts_id, run_id
    ):
        parts, run = full.full_parts(), full.full_run()
        for kept in (True, False):
            ids = (parts_id, run_id) if kept else (None, None)
            key = SIGNER.key_id if kept else None
            done = PartsFinished(parts, rates_of(parts), ids[0], key)
            ended = RunFinished(run, ids[1], key)
            for statement_id, told in (
                (ids[0], lambda end=done: tell_parts(end, as_json=as_json)),
                (ids[1], lambda end=ended: tell_run(end, Settings(), as_json=as_json)),
            ):
                with monkeypatch.context() as patched:
                    patched.setattr(sys, "stdout", Full())
                    with pytest.raises(OSError, match="No space") as e:
                        told()
                    said = self.complaint(capsys, e.value)
                assert "its disk is full" in said
                assert (self.KEPT in said) == kept
                assert statement_id is None or f"gram results {statement_id[:12]}" in said

    def test_other_errors_say_it_too(self, capsys, monkeypatch):
        monkeypatch.setattr(sys, "stdout", Full())
        with pytest.raises(OSError, match="odd") as e, after_keeping("ab" * 32):
            raise OSError(errno.EIO, "odd")
        said = self.complaint(capsys, e.value)
        assert "The output could not be written: odd." in said
        assert self.KEPT in said

    def test_a_reader_that_has_enough_stays_what_it_is(self):
        with pytest.raises(BrokenPipeError), after_keeping("ab" * 32):
            raise BrokenPipeError(errno.EPIPE, "x")

    def test_a_listing_promises_nothing(self, gram, monkeypatch, capsys):
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", Full())
            assert main(["results"]) == 1
            said = capsys.readouterr().err
        assert "its disk is full" in said
        assert "kept" not in said


def test_the_statement_of_a_file_is_the_one_that_was_exported(gram, run_id, home):
    envelope = Ledger(home.ledger).find(run_id).envelope_json
    assert gram("results", "--export", run_id)[1].strip() == envelope.strip()
    assert json.loads(envelope)["payloadType"] == RUN_TYPE


def test_the_documented_names_are_those_that_programs_get(gram, home, run_id, parts_id):
    home.settings.write_text('place = "NL"\nhourly_rate_usd = 0.36\n')
    documented = DOCUMENT.read_text(encoding="utf-8").split("\n| name | |\n")
    names = [
        {name for line in part.split("\n\n")[0].splitlines() for name in _named_first(line)}
        for part in documented[1:]
    ]
    [row] = json.loads(gram("results", "--json")[1])
    one = json.loads(gram("verify", parts_id, "--json")[1])
    assert names == [set(row), set(one), set(one["rates"][0])]
    costs = json.loads(gram("verify", run_id, "--json")[1])["costs"]
    table = documented[-1].partition("| in `costs` | |\n")[2]
    assert {name for line in table.splitlines() for name in _named_first(line)} == set(costs)


def _named_first(line):
    """The names in the first cell of a table's row."""
    cells = line.split("|")
    return re.findall("`([a-z0-9_]+)`", cells[1]) if len(cells) > 2 else []


@pytest.mark.parametrize(
    "arguments",
    [
        ["results"],
        ["results", "--json"],
        pytest.param(["machine", "--json"], marks=pytest.mark.engine),
    ],
)
def test_where_no_log_can_be_kept_one_line_says_so_and_the_list_comes(arguments, home, capsys):
    home.log.mkdir()
    with no_handlers():
        assert main(arguments) == 0
    told = capsys.readouterr()
    assert told.err.count("No log is kept: its file cannot be written (") == 1
    assert told.out


@contextlib.contextmanager
def no_handlers():
    """The root log as in a program that begins; as it was, afterwards."""
    root = logging.getLogger()
    before, root.handlers = root.handlers, []
    try:
        yield
    finally:
        root.handlers = before
