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
from desktop.estimate import printed
from desktop.estimate.catalogue import find
from desktop.estimate.facts import facts_of
from desktop.estimate.page import page_of
from desktop.estimate.page_words import WORDS
from desktop.identity.envelope import seal
from desktop.identity.signer import Signer
from desktop.network.ledger import Ledger
from desktop.rules.statements import PARTS_TYPE, parts_payload
from desktop.services import profiles
from tests.unit.test_ground import WHEN, parts

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
    assert shown["shown"] == shown["recommended"] == "q4_k_m"
    assert [row["quant"] for row in shown["quants"]] == ["q4_k_m"]
    assert shown["runner_up"] is None


def test_of_a_quantization_that_does_not_fit_it_is_not_said_that_others_are_larger():
    large = ("llama-3.1-70b-instruct", "--quant", "q8_0", "--json")
    page = json.loads(said(*large, "--device", "arc-b580-12gb"))
    assert page["recommended"] is None
    assert page["reason"]["code"] == "estimate_does_not_fit"
    [here] = [
        r for r in json.loads(said(*large))["without_result"] if r["device"] == "arc-b580-12gb"
    ]
    assert here["reason"]["code"] == "estimate_does_not_fit"


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
        (("llama-3.2-1b-instruct", "--device", "That"), "device_near", "this"),
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
    # some of many: no list of all
    assert code.endswith("_near") == error["advice"].startswith("Near: ")
    assert captured.err.startswith("gram: ")


def test_another_networks_constants_are_told_as_such_at_the_top():
    told = "By the constants of an existing network's published page, not by Gram's own."
    for device in ((), ("--device", "geforce-rtx-3090-24gb")):
        assert told in " ".join(said(*PAGE, *device).split()[:60])
        assert told not in " ".join(said(PAGE[0], *device).split())


def test_this_is_not_proposed_where_it_is_refused(capsys):
    assert main(["estimate", *PAGE, "--device", "That", "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert "this" not in error["advice"].removeprefix("Near: ").rstrip(".").split(", ")


def test_a_name_of_several_words_needs_no_quotes():
    joined = json.loads(said("Llama", "3.2", "1B", "Instruct", "--profile", "page", "--json"))
    assert joined["model"]["id"] == "llama-3.2-1b-instruct"


@pytest.mark.parametrize("words", [("",), (" ",), ("llama-3.2-1b-instruct", "")])
def test_an_empty_name_is_told_as_such(words, capsys):
    assert main(["estimate", *words]) == 2
    assert "MODEL is empty" in capsys.readouterr().err


@pytest.mark.parametrize("model", [(), PAGE[:1], PAGE])
@pytest.mark.parametrize("option", ["--device", "--quant", "--find"])
@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_option_is_told_as_such(model, option, value, capsys):
    assert main(["estimate", *model, option, value]) == 2
    assert f"Invalid value for '{option}': it is empty" in capsys.readouterr().err


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


@pytest.mark.parametrize("listed", [(), ("--find", "llama"), ("llama", "--find", "8b")])
@pytest.mark.parametrize(
    "option",
    [("--device", "x"), ("--quant", "q8_0"), ("--context", "9"), ("--profile", "page"),
     ("--profile", "gram")],
)  # fmt: skip
def test_what_is_asked_of_a_model_needs_its_name_and_no_list(listed, option, capsys):
    assert main(["estimate", *listed, *option]) == 2
    said = capsys.readouterr()
    assert "MODEL" in said.err
    assert option[0] in said.err
    assert not said.out


@pytest.mark.parametrize("this", ["this", "THIS", " this "])
def test_the_constants_of_another_page_say_nothing_of_this_machine(this, capsys):
    assert main(["estimate", *PAGE, "--device", this]) == 2
    assert "this machine" in capsys.readouterr().err


def test_a_device_that_the_other_page_lacks_is_told_so(capsys):
    assert main(["estimate", *PAGE, "--device", "geforce-rtx-3060-12gb", "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "device_not_on_page"
    assert "geforce-rtx-3060-12gb" in error["text"]


@pytest.mark.parametrize(
    "device", [(), ("--device", "geforce-rtx-3090-24gb"), ("--device", "this")]
)
def test_a_quantization_for_mixtures_alone_is_refused_for_others(device, capsys):
    dense = ("llama-3.1-8b-instruct", "--quant", "mxfp4")
    assert main(["estimate", *dense, *device, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "estimate_mixtures_only"


def test_it_is_offered_for_mixtures():
    asked = json.loads(said("gpt-oss-20b", "--quant", "MXFP4", "--json"))
    assert {row["quant"] for row in asked["ranked"]} == {"mxfp4"}


def kept_parts(home):
    """Parts of this machine, signed and in its ledger."""
    from desktop.machine.cores import usable_cores
    from desktop.services.facts import machine_facts

    measured = parts(usable_cores(), machine=machine_facts(home).machine)
    body = parts_payload(measured, nonce="0" * 32, signed_at=WHEN)
    Ledger(home.ledger).keep(seal(Signer.from_seed(bytes(32)), PARTS_TYPE, body), WHEN)


def fits_said(*arguments):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["fits", *arguments]) == 0
    return out.getvalue()


@pytest.mark.parametrize("depth", [0, 1024, 8000])
def test_this_machine_is_answered_as_gram_fits_answers(home, depth):
    kept_parts(home)
    build, at = ("llama-3.2-1b-instruct", "Q4_K_M"), f"{depth}"
    here = json.loads(
        said(build[0], "--quant", build[1], "--device", "this", "--context", at, "--json")
    )
    room = ("--context", f"{depth + 1}", "--depth", at)
    fits = json.loads(fits_said(*build, *room, "--json"))
    assert here["depth"] == depth
    assert here["rows"] == [row for row in fits["rows"] if row["model"] == build[0]]
    (row,) = here["rows"]
    for name in ("decode", "prompt", "first_token_s", "need"):
        assert row[name]
    assert row["tier"] == "B"
    assert here["shown"] == "q4_k_m"
    assert here["layers"][0]["weight_bytes"] > 0
    ends = [line["result"] for line in here["arithmetic"] if line["unit"] == "tok/s"]
    decode = row["decode"]
    assert ends == [f"{decode[end]:,.1f}" for end in ("low_tok_s", "high_tok_s", "ceiling_tok_s")]
    told = {name: here[name] for name in here if name in fits and name != "rows"}
    assert told == {name: fits[name] for name in told}
    assert here.keys() - fits.keys() == {"shown", "layers", "arithmetic"}


def test_the_text_of_this_machine_has_the_ranges_of_gram_fits(home):
    kept_parts(home)
    here = said("llama-3.2-1b-instruct", "--quant", "Q4_K_M", "--device", "this")
    fits = fits_said("llama-3.2-1b-instruct", "Q4_K_M", "--context", "1025")
    rows = [
        [line for line in text.splitlines() if line.startswith("llama-3.2-1b-instruct ")]
        for text in (here, fits)
    ]
    assert len(rows[0]) == 1
    assert rows[0] == rows[1]
    assert re.search(r" \d\S* to \d", rows[0][0])


def test_the_arithmetic_of_this_machine_is_written_out(home):
    kept_parts(home)
    here = said("llama-3.2-1b-instruct", "--quant", "Q4_K_M", "--device", "this")
    assert "Bytes by layer group, Q4_K_M" in here
    assert "The arithmetic, Q4_K_M" in here
    assert re.search(r"Reading weights in Q4_K, measured at \S+ GB/s", here)
    assert re.search(r"High end.*: .* = \S+ tok/s", here)


def test_all_quantizations_of_one_model_alone_are_told_of_this_machine(home):
    here = json.loads(said("smollm2-135m-instruct", "--device", "this", "--json"))
    assert {row["model"] for row in here["rows"]} == {"smollm2-135m-instruct"}
    assert len(here["rows"]) > 20
    assert here["depth"] == 1024


@pytest.mark.parametrize("quant", ["fp8", "AWQ 4-bit"])
def test_what_nothing_here_runs_has_a_reason(home, quant):
    told = ("smollm2-135m-instruct", "--device", "this", "--quant", quant)
    here = json.loads(said(*told, "--json"))
    assert not here["rows"]
    assert "llama.cpp" in " ".join(said(*told).split())


@pytest.mark.parametrize("context", ["-1", "99999999", "1.5", "x"])
def test_a_context_that_cannot_be_is_refused(context, capsys):
    assert main(["estimate", *PAGE, "--context", context]) == 2
    assert "context" in capsys.readouterr().err


def test_a_context_beyond_the_training_gets_a_reason(capsys):
    assert main(["estimate", *PAGE, "--context", "131073", "--json"]) == 2
    told = capsys.readouterr()
    assert "trained for 131,072 tokens; 131,073 are more" in told.err
    assert json.loads(told.out)["error"]["code"] == "estimate_beyond_context"


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


KINDS = {
    "dense": "llama-3.1-8b-instruct",
    "mixture": "qwen3-30b-a3b",
    "latent": "deepseek-v2-lite-chat",
    "hybrid": "qwen3-next-80b-a3b-instruct",
    "sliding": "gemma-3-4b-it",
    "tiny": "smollm2-135m-instruct",
    "huge": "llama-3.1-405b-instruct",
}


@pytest.mark.parametrize("name", KINDS.values(), ids=KINDS)
def test_every_element_of_the_page_for_models_of_every_kind(name):
    """Each is in the text and in the object for programs."""
    text, plain = said(name), json.loads(said(name, "--json"))
    page = page_of(find(name, profiles.models()), profiles.own_profile(), profiles.models())
    facts = section(text, "facts.heading")
    for fact in facts_of(page.model):
        assert re.search(rf"^{WORDS[fact.name]} +{re.escape(fact.text())}$", facts, re.MULTILINE)
    for told in ("attention", "groups", "vocabulary", "tied", "context_trained", "released",
                 "native_precision", "family", "active_parameters", "parameters"):  # fmt: skip
        assert plain["model"][told] is not None
    sizes = section(text, "sizes.heading").splitlines()[1:]
    assert len(plain["sizes"]) == len(page.sizes) >= 32
    for line, row, size in zip(sizes, page.sizes, plain["sizes"], strict=False):
        quant = row.quant
        held, read = (
            printed.file_size(n) for n in (row.weights.capacity_bytes, row.weights.active_bytes)
        )
        assert line.startswith(f"{quant.label} ")
        assert re.search(rf" {quant.quality} +{quant.rank} +{held} +{read} +(computed|exact)", line)
        assert size["capacity_bytes"] == row.weights.capacity_bytes
    ranked = section(text, "ranked.heading").splitlines()[2:]
    assert len(plain["ranked"]) == len(page.rows) > 0
    for rank, (line, row) in enumerate(zip(ranked, page.rows, strict=False), 1):
        device, unit = row.configuration, page.profile.memory_unit_bytes
        need = printed.amount(row.best.need_bytes, unit)
        usable = printed.memory(device.usable_bytes, unit)
        runner = row.runner_up.quant.label if row.runner_up else "—"
        full = row.at_full_context.best
        for part in (f"{rank} ", device.id, device.name, row.best.quant.label, row.best.target.id,
                     runner, full.quant.label if full else "does not fit", f"{need} of {usable}",
                     printed.span(row.speed), printed.rate(row.speed.ceiling_tok_s), " C ",
                     ):  # fmt: skip
            assert part in line, (part, line)
        assert plain["ranked"][rank - 1]["device"] == device.id
    assert f"at {page.full_context:,}" in section(text, "ranked.heading")
    reasons = section(text, "reasons.heading")
    assert all(told["text"] in reasons for told in plain["reasons"])
    start = section(text, "start.heading")
    assert page.start.smallest.configuration.name in start
    assert [c["rate_tok_s"] for c in plain["start"]["cheapest"]] == [10, 20, 40]
    assert all(f"clears {rate} tokens a second" in start for rate in (10, 20, 40))
    if page.without:
        without = section(text, "none.heading")
        told = {line.split()[0] for line in without.splitlines()}
        assert {row.configuration.id for row in page.without} <= told
    assert len(plain["without_result"]) == len(page.without)
    assert all(source in text for source in page.model.sources)
    assert all(other.id in section(text, "related.heading") for other in page.related)


@pytest.mark.parametrize("name", KINDS.values(), ids=KINDS)
def test_a_devices_page_for_models_of_every_kind(name):
    told = (name, "--device", "geforce-rtx-3090-24gb")
    text, plain = said(*told), json.loads(said(*told, "--json"))
    assert plain["layers"]
    assert plain["arithmetic"]
    for line in plain["arithmetic"]:
        assert f"{line['expression']} = {line['result']} {line['unit']}" in text
    quants = section(text, "device.quants").splitlines()[1:]
    for line, row in zip(quants, plain["quants"], strict=False):
        assert row["decode"] or row["reason"]
        assert line.split()[0].lower().split(" ")[0] in row["quant"]
    if plain["recommended"] is None:
        assert plain["reason"]["text"] in " ".join(text.split())


def test_what_memory_has_room_for_is_told_beside_what_rates_hold_for(plain):
    """In the text and for programs; rates are at another number of tokens."""
    longer = json.loads(said("llama-3.1-8b-instruct", "--context", "4096", "--json"))
    assert (longer["position_tokens"], longer["context_tokens"]) == (4096, 4097)
    whole = json.loads(said("llama-3.1-8b-instruct", "--context", "131072", "--json"))
    assert (whole["position_tokens"], whole["context_tokens"]) == (131_071, 131_072)
    for told in ((), ("--device", "geforce-rtx-3090-24gb")):
        text = said("llama-3.1-8b-instruct", "--context", "4096", *told)
        assert "one token after 4,096 others" in text
        assert "room for 4,097 tokens" in text


def test_sizes_of_small_models_differ():
    """With one decimal 31 of 32 quantizations were as large: 0.1 GB."""
    plain = json.loads(said("smollm2-135m-instruct", "--json"))
    for told in ((), ("--device", "geforce-rtx-3090-24gb")):
        text = said("smollm2-135m-instruct", *told)
        for size in plain["sizes"]:
            line = next(x for x in text.splitlines() if x.startswith(f"{size['label']} "))
            amounts = {f"{size['capacity_bytes'] / 1e9:.2g}"}
            assert amounts & set(line.split()), line


def test_weights_are_told_as_files_and_memory_as_memory():
    """Sizes of files are decimal, memory is binary, on every page."""
    text = said("llama-3.1-8b-instruct", "--device", "geforce-rtx-3090-24gb")
    page = json.loads(said("llama-3.1-8b-instruct", "--json"))
    held = next(row["capacity_bytes"] for row in page["sizes"] if row["quant"] == "q8_0")
    row = next(line for line in text.splitlines() if line.startswith("Q8_0 "))
    assert f" {printed.amount(held)} GB " in row
    assert " GiB " in row


@pytest.mark.parametrize("width", [60, 80, 100, 120, 140])
@pytest.mark.parametrize(
    "asked",
    [(), ("--find", "qwen3"), ("qwen3-30b-a3b",), ("llama-3.1-405b-instruct",),
     ("qwen3-30b-a3b", "--device", "geforce-rtx-3090-24gb"),
     ("llama-3.1-405b-instruct", "--device", "geforce-rtx-3090-24gb"), PAGE],
    ids=" ".join,
)  # fmt: skip
def test_nothing_is_cut_and_no_line_is_wider_than_asked_for(width, asked, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = said(*asked).splitlines()
    # addresses and products have no place to break at
    prose = [line for line in lines if "https://" not in line and " = " not in line]
    assert max(map(len, prose)) <= width
    assert not any("…" in line for line in lines)
    assert not any(line != line.rstrip() for line in lines)


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


def test_the_first_token_is_told_in_figures_that_tell_something():
    """Of small models it was 0.00 to 0.00 s."""
    page = ("smollm2-135m-instruct", "--device", "geforce-rtx-3090-24gb", "--quant", "Q4_0")
    [row] = json.loads(said(*page, "--context", "0", "--json"))["quants"]
    low, high = row["first_token_s"]["low"], row["first_token_s"]["high"]
    assert high < 0.005
    assert f"{low:#.3g}–{high:#.3g}" in said(*page, "--context", "0")


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("0", ("one token after 0 others", "room for one token.")),
        ("1", ("one token after one other", "room for 2 tokens.")),
    ],
)
def test_one_is_not_told_as_many(at, words):
    text = " ".join(said("smollm2-135m-instruct", "--context", at).split())
    assert all(some in text for some in words)
    assert " 1 tokens" not in text
    assert " 1 others" not in text
