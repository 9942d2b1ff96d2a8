"""One click from a build's name to its result, with the program's own services and a local hub."""

import json

import pytest

from desktop.app import App, _options
from desktop.network.ledger import Ledger
from desktop.ui.content import BUILDS, MEASURE
from tests.unit.hub_routes import Repo, hub_server

WAIT_MS = 240_000
"""Every model of the catalogue is worked out; seconds where nothing else goes on."""
MODEL = "smollm2-135m-instruct"
PUBLISHERS = ("unsloth", "bartowski", "mradermacher")
pytestmark = [pytest.mark.timeout(300), pytest.mark.engine]


@pytest.fixture
def hub(monkeypatch, tmp_path, reference_file):
    """The real reference build; in every quantization's name, for any may be the one to take."""
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    content = reference_file.read_bytes()
    labels = ("F16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M")
    repo = Repo({f"m-{label}.gguf": content for label in labels})
    repos = {f"{publisher}__SmolLM2-135M-Instruct-GGUF": repo for publisher in PUBLISHERS}
    with hub_server(**repos) as made:
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        yield made


@pytest.fixture
def app(qtbot, qapp, home, hub):
    short = ["--allow-key-file", "--tests", "pp16,tg4", "--repetitions", "1"]
    made = App(qapp, home, _options(short))
    with qtbot.waitSignal(made.filled, timeout=WAIT_MS):
        made.show()
    yield made
    made.window.close()
    made.close()
    made.theme.setParent(None)
    made.window.deleteLater()


def test_one_click_fetches_and_measures(qtbot, app, home, hub):
    content = app.window.content
    content.show_page(BUILDS)
    get = content.builds.section.page.get
    qtbot.waitUntil(lambda: get.model.rowCount() > 100, timeout=WAIT_MS)
    get.search.setText(MODEL)
    at = get.model.find(lambda o: o.fit is not None and o.fit.model.id == MODEL)
    get.table.selectRow(at)
    get.get_and_measure.click()
    qtbot.waitUntil(lambda: bool(list(Ledger(home.ledger).entries())), timeout=WAIT_MS)
    [file] = home.builds.glob("*/*.gguf")
    [kept] = Ledger(home.ledger).entries()
    assert kept.envelope_json
    qtbot.waitUntil(lambda: not app.services.running, timeout=WAIT_MS)
    assert content.page == MEASURE
    assert any("/resolve/" in path for path, _ in hub.asked)
    assert json.loads((home.data / "library.json").read_text())["builds"][file.parent.name]
