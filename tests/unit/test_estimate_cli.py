"""`gram estimate` as a person and as a program sees it."""

# ruff: noqa: RUF001 - dashes and signs as they are printed

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from desktop.cli import main
from desktop.cli.fitting import Column, fitting
from desktop.estimate.page_words import WORDS

ROOT = Path(__file__).parents[2]
PAGE = ("llama-3.2-1b-instruct", "--profile", "page")


def said(*arguments, status=0):
    """What `gram estimate ARGUMENTS` prints on stdout."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["estimate", *arguments]) == status
    return out.getvalue()


@pytest.fixture(scope="module")
def text():
    return said(*PAGE)


@pytest.fixture(scope="module")
def plain():
    return json.loads(said(*PAGE, "--json"))


@pytest.fixture(scope="module")
def device_text():
    return said(*PAGE, "--device", "arc-b580-12gb")


def section(text, code):
    """The lines below a heading, up to the next blank line."""
    return text.split(f"\n{WORDS[code]}\n", 1)[1].split("\n\n", 1)[0]


def test_the_head_says_what_is_counted_over_which_parameters(text):
    assert "What runs Llama 3.2 1B Instruct\n" in text
    assert "Model · llama · released 2024-09\n" in text
    assert "Memory is counted over all 1.2 B parameters." in text
    assert "What a token reads is counted over its 1.2 B active parameters." in text
    assert "one token after 1,024 others, batch 1, one stream" in text


def test_the_facts_are_those_of_the_page(text):
    facts = section(text, "facts.heading")
    for name, value in (
        ("Architecture", "Dense"),
        ("Parameters in all", "1.2 B"),
        ("Active for a token", "1.2 B"),
        ("Attention", "GQA"),
        ("Layers", "16 layers · heads 32, KV heads 8, head size 64, full attention"),
        ("Vocabulary", "128,256 tokens"),
        ("Tied embeddings", "Yes"),
        ("Greatest context", "131,072 tokens"),
        ("Native precision", "bf16"),
    ):
        assert re.search(rf"^{name} +{re.escape(value)}$", facts, re.MULTILINE), name
    assert "All parameters count for memory" in facts


def test_a_row_of_the_sizes_has_all_columns(text):
    sizes = section(text, "sizes.heading")
    row = r"^Q4_K_M +gguf_kquant +q4_k_m +4\.83 +good +74 +0\.7 +0\.7 +computed \(bits\)$"
    assert re.search(row, sizes, re.MULTILINE)
    assert WORDS["sizes.note.basis"] in sizes
    assert WORDS["sizes.note.quality"] in sizes


def test_a_ranked_row_has_all_columns(text):
    ranked = section(text, "ranked.heading")
    row = (
        r"^26 +arc-b580-12gb +Intel Arc B580 12 GB +Q8_0 +llama-cpp-vulkan +Q6_K +Q8_0 +"
        r"2\.3 of 12 GB +142\.2–226\.8 +347\.2 +B 1 2 3 4$"
    )
    assert re.search(row, ranked, re.MULTILINE)
    assert re.search(r"^ 1 +rubin-sxm-288gb .* 5,092\.6–7,024\.3 ", ranked, re.MULTILINE)


def test_the_ranking_says_what_its_ranges_are(text):
    ranked = section(text, "ranked.heading")
    for code in ("ranked.label", "ranked.note.band", "ranked.note.choice", "ranked.note.order"):
        assert WORDS[code] in ranked
    assert "whole context of 131,072 tokens" in ranked
    assert "one token after 1,024 others, batch 1, one stream" in ranked
    assert "gram estimate MODEL --device ID" in ranked


def test_each_reason_that_a_row_has_is_explained(text):
    reasons = section(text, "reasons.heading").splitlines()
    assert [line.split(":")[0] for line in reasons[:4]] == [
        "1 computed artifact size",
        "2 exposed latency uncalibrated",
        "3 matched target",
        "4 outside efficiency regime",
    ]
    assert "one operation on one device under one back end" in reasons[4]


def test_where_to_start(text):
    start = section(text, "start.heading")
    assert "The smallest that runs Llama 3.2 1B Instruct: Intel Arc B580 12 GB, with 12 GB" in start
    assert "There it takes Q8_0, whose quality is excellent." in start
    for rate in (10, 20, 40):
        clears = f"whole range clears {rate} tokens a second: Intel Arc B580 12 GB, $249."
        assert clears in start
    assert WORDS["start.note"] in start


def test_devices_without_a_result_have_their_inputs_their_reason_and_advice(text):
    without = section(text, "none.heading")
    for code in ("none.note.reason", "none.note.slow", "none.note.quant"):
        assert WORDS[code] in without
    row = r"^arc-pro-b60-24gb +Intel Arc Pro B60 24 GB +24 GB +456 GB/s +no back end for BF16$"
    assert re.search(row, without, re.MULTILINE)
    why = "No back end is known to run BF16 on 54.4 GB"
    assert why not in without
    assert "No back end is known to run BF16 on 64 GB (NVIDIA Jetson AGX Orin)" in without
    assert "add a back end for raspberry-pi-5-8gb to the table of targets" in without


def test_sources_and_other_models(text):
    sources = section(text, "sources.heading")
    assert re.search(r"^Record of the model +llama-3\.2-1b-instruct$", sources, re.MULTILINE)
    assert "https://huggingface.co/meta-llama/Llama-3.2-1B-Instruct/raw/main/config.json" in sources
    assert WORDS["sources.note"] in sources
    related = section(text, "related.heading")
    assert WORDS["related.note"] in related
    assert "llama-3.2-3b-instruct" in related
    assert "llama-3.2-1b-instruct" not in related


def test_a_devices_page_has_every_quantization_bytes_and_arithmetic(device_text):
    assert "Llama 3.2 1B Instruct on Intel Arc B580 12 GB" in device_text
    quants = section(device_text, "device.quants")
    assert len(quants.splitlines()) == 25
    assert re.search(
        r"^Q6_K +92 +llama-cpp-vulkan +1 GB +2 GB +182\.9–291\.8$", quants, re.MULTILINE
    )
    assert re.search(r"^BF16 +100 .*no back end for BF16$", quants, re.MULTILINE)
    low = "Low end: 0.42 × 456,000,000,000 ÷ (1,313,250,000 + 33,587,200) = 142.2 tok/s"
    assert low in device_text
    assert re.search(r"^16 layers · .* 33,587,200 +33,587,200$", device_text, re.MULTILINE)


def test_a_quantization_can_be_asked_for():
    asked = json.loads(said(*PAGE, "--quant", "q4_k_m", "--json"))
    assert {row["quant"] for row in asked["ranked"]} == {"q4_k_m"}
    assert [row["quant"] for row in asked["sizes"]] == ["q4_k_m"]
    shown = json.loads(said(*PAGE, "--device", "arc-b580-12gb", "--quant", "Q4_K_M", "--json"))
    assert shown["shown"] == "q4_k_m"
    assert shown["recommended"] == "q8_0"


def test_a_longer_context_needs_more_and_is_slower(plain):
    longer = json.loads(said(*PAGE, "--context", "65536", "--json"))
    assert longer["position_tokens"] == 65_536
    before = {row["device"]: row for row in plain["ranked"]}
    for row in longer["ranked"]:
        assert row["high_tok_s"] < before[row["device"]]["high_tok_s"]
        assert row["need_bytes"] > before[row["device"]]["need_bytes"]


def test_without_a_model_all_are_listed_and_can_be_searched():
    listed = json.loads(said("--json"))["models"]
    assert len(listed) >= 120
    found = json.loads(said("--find", "llama 3.2", "--json"))["models"]
    assert {"llama-3.2-1b-instruct", "llama-3.2-3b-instruct"} <= {m["id"] for m in found}
    assert len(found) < len(listed)
    assert "llama-3.2-3b-instruct" in said("--find", "LLAMA 3.2")


@pytest.mark.parametrize(
    ("arguments", "code", "near"),
    [
        (("llama-3.2-1b-instrukt",), "model_near", "llama-3.2-1b-instruct"),
        (("smollm2",), "model_near", "smollm2-135m-instruct"),
        (("no such model at all",), "model_unknown", ""),
        ((*PAGE, "--device", "rtx-3090-24gb"), "device_near", "geforce-rtx-3090-24gb"),
        ((*PAGE, "--device", "zzz"), "device_unknown", ""),
        ((*PAGE, "--quant", "q4"), "quant_unknown", "Q4_K_M"),
        (("--find", "zzzz"), "model_unknown", ""),
    ],
)
def test_an_unknown_name_is_never_guessed_and_near_ones_are_named(arguments, code, near, capsys):
    assert main(["estimate", *arguments, "--json"]) == 2
    captured = capsys.readouterr()
    error = json.loads(captured.out)["error"]
    assert error["code"] == code
    assert near in error["advice"]
    assert captured.err.startswith("gram: ")


def test_a_name_of_several_words_needs_no_quotes():
    joined = json.loads(said("Llama", "3.2", "1B", "Instruct", "--profile", "page", "--json"))
    assert joined["model"]["id"] == "llama-3.2-1b-instruct"


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_is_told_as_such(name, capsys):
    assert main(["estimate", name]) == 2
    assert "MODEL is empty" in capsys.readouterr().err


def test_advice_for_a_word_that_no_name_has_does_not_lead_back_to_it(capsys):
    assert main(["estimate", "--find", "zzzz", "--json"]) == 2
    advice = json.loads(capsys.readouterr().out)["error"]["advice"]
    assert advice.startswith("`gram estimate` lists all")


def test_a_prompts_bound_by_memory_is_not_called_its_ceiling():
    """Arithmetic decides there: 8,551 tok/s stood beside a range of 9 to 56."""
    page = json.loads(said(PAGE[0], "--device", "geforce-rtx-3090-24gb", "--json"))
    prompts = [row["prompt"] for row in page["quants"] if row["prompt"]]
    assert prompts
    assert all(set(prompt) == {"low_tok_s", "high_tok_s"} for prompt in prompts)


@pytest.mark.parametrize("option", [("--device", "x"), ("--quant", "q8_0"), ("--context", "9")])
def test_what_is_asked_of_a_model_needs_its_name(option, capsys):
    assert main(["estimate", *option]) == 2
    assert "MODEL" in capsys.readouterr().err


def test_this_machine_is_answered_as_gram_fits_answers(home):
    here = json.loads(said("smollm2-135m-instruct", "--device", "this", "--json"))
    assert {row["model"] for row in here["rows"]} == {"smollm2-135m-instruct"}
    assert here["depth"] == 1024


@pytest.mark.parametrize("context", ["-1", "99999999", "1.5", "x"])
def test_a_context_that_cannot_be_is_refused(context, capsys):
    assert main(["estimate", *PAGE, "--context", context]) == 2
    assert "context" in capsys.readouterr().err


def test_a_context_beyond_the_training_gets_a_reason(capsys):
    assert main(["estimate", *PAGE, "--context", "131073"]) == 1
    assert "trained for 131072 tokens" in capsys.readouterr().err


def test_help_is_for_newcomers(capsys):
    assert main(["estimate", "--help"]) == 0
    told = capsys.readouterr().out
    assert "before anything is downloaded" in " ".join(told.split())
    assert "gram estimate --find qwen" in told


def test_columns_give_way_by_their_importance():
    columns = [
        Column("id", ["a-long-name"]),
        Column("name", ["the longest of all"], drop=2),
        Column("rate", ["1.0"], drop=1),
    ]
    assert [c.head for c in fitting(columns, 80)] == ["id", "name", "rate"]
    assert [c.head for c in fitting(columns, 20)] == ["id", "rate"]
    assert [c.head for c in fitting(columns, 5)] == ["id"]


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_line_is_wider_than_the_terminal(width, tmp_path):
    environment = os.environ | {
        "COLUMNS": str(width), "FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm",
        "GRAM_HOME": str(tmp_path), "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    command = [sys.executable, "-m", "desktop", "estimate", *PAGE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert max(len(line.rstrip()) for line in done.stdout.splitlines()) <= width
    assert "arc-b580-12gb" in done.stdout
    assert "No room here for:" in done.stdout


def test_neither_qt_nor_the_engine_nor_numpy_is_needed(tmp_path):
    code = (
        "import sys; from desktop.cli import main; "
        f"main(['estimate', *{PAGE!r}, '--json']); "
        "print(sorted(m for m in sys.modules if m.split('.')[0] in {'PySide6', 'llama_cpp', 'keyring', 'requests'}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True,
        env=os.environ | {"GRAM_HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == "[]"


def test_the_documented_json_names_are_there(plain):
    """docs/estimate-json.md lists exactly the names of a model's page."""
    document = (ROOT / "docs/estimate-json.md").read_text(encoding="utf-8")
    ranked = document.split("| in `ranked` |", 1)[1].split("\n\n", 1)[0]
    named = set(
        re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (`.*?) \|", ranked, re.MULTILINE)))
    )
    assert named == set(plain["ranked"][0])
    page = document.split("## `gram estimate MODEL --json`", 1)[1].split("| in `ranked` |", 1)[0]
    top = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert top | {"format", "version"} == set(plain)
