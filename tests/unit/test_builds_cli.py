"""`gram builds …` as a person types it, against a local hub with real files."""

import json
import signal
import threading

import pytest

from desktop import cli
from desktop.cli import builds_get, builds_search, builds_use
from desktop.errors import BuildError
from desktop.services import fetching, offers
from tests.unit.gguf_files import gguf_bytes
from tests.unit.hub_routes import Canned, Repo, hub_server
from tests.unit.test_fits import ground_with, here

SMALL = "smollm2-135m-instruct"
REPOSITORY = "unsloth/SmolLM2-135M-Instruct-GGUF"
NAME = f"hf.co/{REPOSITORY}:Q4_1"


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch, home):
    """A machine that is known, nothing shipped, and an empty home of the person."""
    for module in (builds_get, builds_search, builds_use):
        monkeypatch.setattr(module, "read_ground", lambda _: ground_with(here()))
    monkeypatch.setattr(offers, "shipped_builds", lambda _: ())
    (tmp_path / "person").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    for name in ("HF_HOME", "HF_HUB_CACHE", "LLAMA_CACHE", "OLLAMA_MODELS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("HF_TOKEN", raising=False)


@pytest.fixture
def hub(monkeypatch, reference_file):
    """With the real reference build under a name of the catalogue's."""
    content = reference_file.read_bytes()
    repo = Repo({"m-Q4_1.gguf": content, "m-Q4_0.gguf": content[:-1] + b"x"})
    with hub_server(**{REPOSITORY.replace("/", "__"): repo}) as made:
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        yield made


@pytest.fixture
def gram(capsys):
    def run(*arguments, status=0):
        assert cli.main(["builds", *arguments]) == status
        return capsys.readouterr()

    return run


def test_help_names_every_command(gram):
    said = gram("--help").out
    for command in ("search", "add", "get", "list", "rm", "verify", "use", "pin", "unpin", "token"):
        assert f"\n  {command} " in said


def test_nothing_is_here_at_first(gram):
    said = gram().out
    assert "No builds here yet" in said
    assert "Gram's own take 0 B of" in said
    assert json.loads(gram("list", "--json").out)["held"] == []


def test_found_fetched_shown_used_checked_and_removed(gram, hub, home):
    found = gram("search", SMALL, "q4_1").out
    assert f"{REPOSITORY}:Q4_1" in found
    assert "98.4 MB" in found
    assert "estimates" in found

    got = gram("get", NAME)
    assert "It would run here: in memory, estimated" in got.err
    assert "tier" in got.err
    assert f"Fetched and verified: {NAME}, 98.4 MB" in got.out
    assert f"gram bench {NAME}" in got.out

    assert "is here already; nothing was downloaded" in gram("get", NAME).err
    assert "here" in gram("search", SMALL, "q4_1").out.splitlines()[1]

    here_now = gram().out
    assert NAME in here_now
    assert "Gram" in here_now
    [held] = json.loads(gram("--json").out)["held"]
    assert held["name"] == NAME
    assert held["ours"] is True

    used = gram("use", NAME).out
    for words in ("llama-server -m ", "PARAMETER num_ctx 4096", "lms load "):
        assert words in used
    assert f"Every byte is right: {NAME}" in gram("verify").err

    assert "Pinned" in gram("pin", REPOSITORY).out
    assert "pinned" in gram().out
    gram("unpin", f"{REPOSITORY}:Q4_1")
    assert "pinned" not in gram().out

    refused = gram("rm", NAME, status=1)
    assert "--yes" in refused.err
    assert "98.4 MB freed" in gram("rm", NAME, "--yes").out
    assert NAME not in gram().out


def test_damaged_bytes_are_told_and_the_build_is_fetched_again(gram, hub, home):
    gram("get", NAME)
    [file] = home.builds.glob("*/*.gguf")
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    said = gram("verify", NAME, status=1)
    assert "are not those that were fetched" in said.err
    assert "damaged" in gram().out
    assert "Fetched and verified" in gram("get", NAME).out
    [held] = json.loads(gram("--json").out)["held"]
    assert held["kept"] == "whole"
    assert held["size_bytes"] == len(data)  # what was set aside is gone


def test_json_of_a_search_and_of_a_refusal(gram, hub):
    found = json.loads(gram("search", SMALL, "q4_1", "--json").out)
    [offer] = found["offers"]
    assert offer["build"]["name"] == NAME
    assert len(offer["build"]["sha256"]) == 64
    assert offer["fit"]["estimate"]["decode"]["low_tok_s"] > 0
    refused = json.loads(gram("get", "o/gone", "--json", status=1).out)
    assert refused["error"]["code"] == "hub_unknown"


def test_offline_nobody_is_asked(gram, hub):
    said = gram("search", SMALL, "--offline").out
    assert "Nobody was asked" in said
    assert hub.asked == []


def test_words_that_nobody_knows(gram, hub):
    hub.canned["/api/models"] = [Canned(200, b"[]")]
    said = gram("search", "zzzz")
    assert "No build that is known has these words" in said.out
    assert "zzzz" in gram("search", "zzzz", "--offline", status=2).err


def test_a_repository_is_added_shown_and_removed(gram, hub, tmp_path):
    hub.repos["o/odd"] = Repo({"odd-Q4_0.gguf": gguf_bytes(tmp_path, 1)})
    assert "o/odd, 1 build\n" in gram("add", "hf.co/o/odd").out
    assert "o/odd:Q4_0" in gram("search", "o/odd", "--offline").out
    assert "not looked through any more" in gram("rm", "o/odd").out
    assert "library" not in gram("rm", "o/odd", status=1).err


def test_a_file_of_ones_own_is_added_and_measured_in_place(gram, tmp_path):
    file = tmp_path / "mine Q4_0.gguf"
    file.write_bytes(gguf_bytes(tmp_path, 1))
    gram("add", str(file))
    assert "mine Q4_0" in gram().out
    assert "no.gguf" in gram("add", str(tmp_path / "no.gguf"), status=1).err


def test_what_would_not_run_is_refused(gram, hub, monkeypatch):
    small = ground_with(here(room=here().room.__class__(host_bytes=1 << 20)))
    monkeypatch.setattr(builds_get, "read_ground", lambda _: small)
    said = gram("get", NAME, status=1)
    assert "would not run on this machine" in said.err
    assert not any("/resolve/" in path and "bytes" not in str(h) for path, h in hub.asked)
    gram("get", NAME, "--anyway")


class TestAsked:
    """Somebody is at the terminal."""

    @pytest.fixture
    def asked(self, monkeypatch):
        questions, yes = [], [True]

        def confirm(text, **_):
            questions.append(text)
            return yes[0]

        monkeypatch.setattr(builds_get, "can_ask", lambda: True)
        monkeypatch.setattr(builds_get.click, "confirm", confirm)
        return questions, yes

    @pytest.fixture
    def unfit(self, monkeypatch):
        small = ground_with(here(room=here().room.__class__(host_bytes=1 << 20)))
        monkeypatch.setattr(builds_get, "read_ground", lambda _: small)

    def test_yes_goes_on(self, gram, hub, asked, unfit):
        assert "Fetched and verified" in gram("get", NAME).out
        [question] = asked[0]
        assert question.endswith("Download it all the same?")
        assert "would not run on this machine" in question

    def test_no_ends_it(self, gram, hub, home, asked, unfit):
        asked[1][0] = False
        assert "Nothing was downloaded" in gram("get", NAME, status=1).err
        assert not list(home.builds.glob("*/*.gguf"))

    def test_programs_are_not_asked(self, gram, hub, asked, unfit):
        refused = json.loads(gram("get", NAME, "--json", status=1).out)
        assert refused["error"]["code"] == "download_not_run"
        assert asked[0] == []

    def test_room_is_made_with_a_yes(self, gram, hub, home, asked):
        gram("get", f"{REPOSITORY}:Q4_0")
        home.settings.write_text("[builds]\nbudget_gb = 0.1\n")
        assert "Removed to make room" in gram("get", NAME).out
        [question] = asked[0]
        assert "98.4 MB" in question
        assert question.endswith("Remove them, and download it?")

    def test_what_was_removed_is_told_also_where_the_download_then_fails(
        self, gram, hub, home, monkeypatch
    ):
        gram("get", f"{REPOSITORY}:Q4_0")
        home.settings.write_text("[builds]\nbudget_gb = 0.1\n")

        def gone(wanted, *_):
            raise BuildError("download_gone", name=wanted.name)

        monkeypatch.setattr(fetching, "download", gone)
        said = gram("get", NAME, "--make-room", status=1).err
        assert "Removed to make room: " in said
        assert ":Q4_0, 98.4 MB" in said

    def test_there_is_no_question_where_nothing_would_help(self, gram, hub, home, asked):
        gram("get", f"{REPOSITORY}:Q4_0")
        gram("pin", REPOSITORY)
        home.settings.write_text("[builds]\nbudget_gb = 0.1\n")
        said = gram("get", NAME, status=1).err
        assert "gram settings builds.budget_gb N" in " ".join(said.split())
        assert "more than can be freed" in " ".join(said.split())
        assert asked[0] == []


@pytest.mark.parametrize("rate", ["5MB", "0,5", "fast"])
def test_a_limit_that_is_no_number_is_told_how_to_write_it(gram, rate):
    assert "as 5 or 0.5" in gram("get", NAME, "--limit", rate, status=2).err


def test_what_is_to_be_pasted_stands_behind_the_line_that_says_so(gram, hub):
    gram("get", NAME)
    lines = gram("use", NAME).out.splitlines()

    def at(start):
        return next(n for n, line in enumerate(lines) if line.startswith(start))

    assert at("llama-server") < at("Run:") < at("llama-server -m ")
    assert at("Save this text as a file called Modelfile") < at("FROM ")
    assert at("FROM ") < at("Then run:") < at("ollama create ")
    for words in ("llama-server -m ", "FROM ", "ollama create "):
        assert lines[at(words) - 1] == ""


def test_no_more_context_is_set_than_a_model_was_trained_for(gram, hub):
    gram("get", NAME)
    said = gram("use", NAME, "--context", "100000")
    assert "was trained for 8,192 tokens" in " ".join(said.err.split())
    assert "-c 8192 " in said.out
    assert "num_ctx 8192" in said.out
    assert "100000" not in said.out
    assert "trained" not in gram("use", NAME, "--context", "8192").err


def test_ctrl_c_ends_it_and_it_goes_on_another_time(gram, hub, monkeypatch):
    begun = threading.Event()

    def step(self, told):
        if told.state.value == "fetching" and not begun.is_set():
            begun.set()
            signal.raise_signal(signal.SIGINT)

    from desktop.cli.fetch_line import FetchLine

    monkeypatch.setattr(FetchLine, "step", step)
    said = gram("get", NAME, "--limit", "5", status=130)
    assert "what has come is kept" in said.err
    assert begun.is_set()
    assert "Fetched and verified" in gram("get", NAME).out


@pytest.mark.parametrize("command", ["rm", "pin", "unpin", "verify"])
def test_a_build_that_is_not_here(gram, command):
    assert "no build nothing" in gram(command, "nothing", status=1).err


def test_json_stands_behind_the_command(gram):
    assert "behind the command" in gram("--json", "list", status=2).err
