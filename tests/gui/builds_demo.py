"""Builds that can be had and that are here, on the made-up machine of `fits_demo`."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from desktop.errors import Reason
from desktop.records.build_events import FetchEnded, OffersKnown, ShelfKnown, UseKnown
from desktop.records.fits import Fit, FitRow
from desktop.records.library import Kept
from desktop.records.offers import (
    GRAM,
    BuildOffer,
    BuildUse,
    FetchState,
    FetchStep,
    HeldBuild,
    OfferedBuild,
    Offers,
    Shelf,
    UseWay,
)
from desktop.records.remote import RemoteFile
from tests.gui import fits_demo

LISTED = "2025-03-14T09:26:53Z"
GB = 10**9
FOUND = (
    "bartowski/Llama-3.1-Nemotron-70B-Instruct-HF-GGUF",
    "unsloth/Llama-3.2-3B-Instruct-GGUF",
    "lmstudio-community/Meta-Llama-3.1-8B-Instruct-GGUF",
)


def sum_of(number: int) -> str:
    return f"{number:02x}" * 32


HELD = HeldBuild(
    name="hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M",
    sha256=sum_of(1),
    files=(Path("builds") / sum_of(1) / "Llama-3.2-3B-Instruct-Q4_K_M.gguf",),
    size_bytes=2_019_377_696,
    keepers=(GRAM,),
    ours=True,
    freed_bytes=2_019_377_696,
    used_at="2025-03-12T17:03:00Z",
    quantization="Q4_K_M",
)
PINNED = replace(
    HELD,
    name="hf.co/Qwen/Qwen3-4B-GGUF:Q4_K_M",
    sha256=sum_of(2),
    files=(Path("builds") / sum_of(2) / "Qwen3-4B-Q4_K_M.gguf",),
    pinned=True,
    keepers=(GRAM, "LM Studio"),
)
OTHERS = HeldBuild(
    name="llama3.2:1b",
    sha256=None,
    files=(Path("blobs") / "sha256-74701a8c35f6",),
    size_bytes=1_321_082_688,
    keepers=("Ollama",),
)
PART = replace(
    HELD,
    name="hf.co/bartowski/Llama-3.3-70B-Instruct-GGUF:Q4_K_M",
    sha256=sum_of(3),
    files=(Path("builds") / sum_of(3) / "Llama-3.3-70B-Instruct-Q4_K_M.gguf",),
    kept=Kept.PART,
    size_bytes=9 * GB,
    used_at=None,
)
DAMAGED = replace(
    HELD,
    name="hf.co/ggml-org/gemma-3-1b-it-GGUF:Q4_K_M",
    sha256=sum_of(4),
    files=(Path("builds") / sum_of(4) / "gemma-3-1b-it-Q4_K_M.gguf",),
    kept=Kept.DAMAGED,
)


def shelf(*held: HeldBuild) -> Shelf:
    return Shelf(
        held or (HELD, PINNED, PART, DAMAGED, OTHERS),
        kept_bytes=12_300_000_000,
        budget_bytes=50 * GB,
        free_bytes=210 * GB,
    )


def shelf_known(*held: HeldBuild) -> ShelfKnown:
    return ShelfKnown(shelf(*held))


@cache
def rows() -> dict[Fit, FitRow]:
    """A row of each place where a build may fit."""
    found = {}
    for row in fits_demo.fits().rows:
        found.setdefault(row.fit, row)
    return found


def row(model: str) -> FitRow:
    return next(r for r in fits_demo.fits().rows if r.model.id == model)


def offer(fit: FitRow, owner: str, *, asked: bool = True, **changes: object) -> BuildOffer:
    repo = f"{fit.model.name.replace(' ', '-')}-GGUF"
    label = fit.quant.label
    size = fit.size_bytes + 5_963_712
    file = RemoteFile(f"{fit.model.name}-{label}.gguf", size, sum_of(9))
    build = OfferedBuild(
        name=f"hf.co/{owner}/{repo}:{label}",
        repository=f"{owner}/{repo}",
        quantization=label,
        model=fit.model.id,
        size_bytes=size if asked else None,
        sha256=sum_of(9) if asked else None,
        files=(file,) if asked else (),
        context_trained=131072,
        license="llama3.1",
        gated=False if asked else None,
        listed_at=LISTED if asked else None,
    )
    held = changes.pop("held", None)
    return BuildOffer(replace(build, **changes), fit, held)


@cache
def offers() -> Offers:
    """Best first, as the services give them."""
    by = fits_demo.fits().rows
    runs = [r for r in by if r.fit is Fit.ON_CARD]
    offload = [r for r in by if r.fit is Fit.WITH_OFFLOAD]
    nowhere = [r for r in by if not r.runs]
    made = [
        offer(runs[0], "bartowski", license="llama3.2", held=HELD),
        offer(runs[1], "ggml-org", asked=False, license="apache-2.0"),
        offer(runs[2], "unsloth", gated=True),
        offer(runs[3], "lmstudio-community", held=OTHERS),
        *(offer(r, "bartowski") for r in offload[:3]),
        *(offer(r, "bartowski", asked=False) for r in nowhere[:3]),
    ]
    split = RemoteFile("a/b-00001-of-00002.gguf", 4 * GB, sum_of(7))
    other = RemoteFile("a/b-00002-of-00002.gguf", 3 * GB, sum_of(8))
    made[4] = replace(made[4], build=replace(made[4].build, files=(split, other)), held=PART)
    made.append(unknown())
    return Offers(tuple(made), online=True)


def unknown() -> BuildOffer:
    """Of a model that is not in the catalogue."""
    build = OfferedBuild(
        name="hf.co/somebody/Own-7B-GGUF:Q5_K_M",
        repository="somebody/Own-7B-GGUF",
        quantization="Q5_K_M",
        size_bytes=5 * GB,
        listed_at=LISTED,
        added=True,
    )
    return BuildOffer(build, None)


def offers_known(**changes: object) -> OffersKnown:
    return OffersKnown(replace(offers(), **changes))


def offline() -> OffersKnown:
    reason = Reason("hub_unreachable", {"host": "huggingface.co", "detail": "no connection"})
    return offers_known(online=False, told=(reason,))


def step(name: str, state: FetchState = FetchState.FETCHING, **changes: object) -> FetchStep:
    made = FetchStep(name, state, 1_230_000_000, 4_920_000_000, 24_100_000.0, 153.0)
    return replace(made, **changes)


def ended(name: str, held: HeldBuild = HELD, **changes: object) -> FetchEnded:
    return FetchEnded(name, held, **changes)


def failed(name: str, code: str, **params: str | int) -> FetchEnded:
    return FetchEnded(name, None, Reason(code, {"name": name, **params}))


def no_room(name: str) -> FetchEnded:
    return failed(
        name,
        "library_needs_room",
        need_bytes=4_900_000_000,
        names="Qwen3-4B-GGUF:Q4_K_M, gemma-3-1b-it-GGUF:Q4_K_M",
        freed_bytes=6_100_000_000,
    )


def use_known() -> UseKnown:
    ways = (
        UseWay(
            "llama-server",
            "llama-server --model Llama-3.2-3B-Instruct-Q4_K_M.gguf --ctx-size 4096 "
            "--gpu-layers 99 --flash-attn on",
        ),
        UseWay(
            "Ollama",
            "ollama create llama-3.2-3b-q4_k_m --file Modelfile",
            file="FROM ./Llama-3.2-3B-Instruct-Q4_K_M.gguf\nPARAMETER num_ctx 4096\n",
        ),
        UseWay("LM Studio", "", (Reason("estimate_parts"),)),
    )
    told = (Reason("estimate_no_parts"),)
    return UseKnown(BuildUse(HELD.name, ways, told))
