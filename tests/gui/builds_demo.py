"""Builds that can be had and that are here, on the made-up machine of `fits_demo`."""

from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath

from desktop.errors import Reason
from desktop.records.build_events import (
    FetchEnded,
    HubKnown,
    OffersKnown,
    ShelfKnown,
    TokenKnown,
    UseKnown,
)
from desktop.records.fits import Fit, FitRow
from desktop.records.hub_token import TokenSource, TokenState
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
)
from desktop.records.on_disk import FoundPlace
from desktop.records.remote import RemoteFile
from desktop.records.use import UseFacts, UseSettings
from desktop.rules.use_ways import ways_of
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


FOLDER = PurePosixPath("/home/anna/.local/share/gram/builds")


def own(number: int, name: str, file: str, size_bytes: int, **changes: object) -> HeldBuild:
    """One that Gram fetched."""
    made = HeldBuild(
        name=name,
        sha256=sum_of(number),
        files=(Path(FOLDER) / sum_of(number) / file,),
        size_bytes=size_bytes,
        keepers=(GRAM,),
        ours=True,
        freed_bytes=size_bytes,
        used_at="2025-03-12T17:03:00Z",
        quantization=name.rpartition(":")[2],
    )
    return replace(made, **changes)


HELD = own(
    1,
    "hf.co/bartowski/Llama-3.2-1B-Instruct-GGUF:BF16",
    "Llama-3.2-1B-Instruct-BF16.gguf",
    2_477_727_680,
)
PINNED = own(
    2,
    "hf.co/Qwen/Qwen3-4B-GGUF:Q4_K_M",
    "Qwen3-4B-Q4_K_M.gguf",
    2_497_280_256,
    pinned=True,
    keepers=(GRAM, "LM Studio"),
)
OTHERS = HeldBuild(
    name="hermes3:8b-llama3.1-q8_0",
    sha256=None,
    files=(Path("/usr/share/ollama/.ollama/models/blobs/sha256-74701a8c35f6"),),
    size_bytes=8_538_898_368,
    keepers=("Ollama",),
)
PART = own(
    3,
    "hf.co/bartowski/Llama-4-Scout-17B-16E-Instruct-GGUF:Q2_K",
    "Llama-4-Scout-17B-16E-Instruct-Q2_K-00001-of-00002.gguf",
    9 * GB,
    kept=Kept.PART,
    whole_bytes=39_600_000_000,
    used_at=None,
)
DAMAGED = own(
    4,
    "hf.co/ggml-org/gemma-3-1b-it-GGUF:Q4_K_M",
    "gemma-3-1b-it-Q4_K_M.gguf",
    806_058_272,
    kept=Kept.DAMAGED,
)
BUDGET = 20_500_000_000


def shelf(*held: HeldBuild) -> Shelf:
    shown = held or (HELD, PINNED, PART, DAMAGED, OTHERS)
    own_bytes = sum(build.size_bytes for build in shown if build.ours)
    return Shelf(shown, kept_bytes=own_bytes, budget_bytes=BUDGET, free_bytes=210 * GB)


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
        context_trained=fit.model.context_trained,
        license=fit.model.license,
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
        offer(runs[0], "bartowski", held=HELD),
        offer(runs[1], "ggml-org", asked=False),
        offer(runs[2], "unsloth", gated=True),
        offer(runs[3], "lmstudio-community", held=OTHERS),
        *(offer(r, "bartowski") for r in offload[:3]),
        *(offer(r, "bartowski", asked=False) for r in nowhere[:3]),
    ]
    made[4] = replace(_in_two(made[4]), held=PART)
    made.append(unknown())
    return Offers(tuple(made), online=True)


def _in_two(of: BuildOffer) -> BuildOffer:
    size = of.build.size_bytes or 0
    name = Path(PART.files[0]).name
    first = RemoteFile(name, 20 * GB, sum_of(3))
    second = RemoteFile(name.replace("00001-of", "00002-of"), size - 20 * GB, sum_of(8))
    return replace(of, build=replace(of.build, files=(first, second)))


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


def size_of(name: str) -> int:
    """Of the build that is offered under this name; of another, as good as any."""
    sizes = {o.build.name: o.build.size_bytes for o in offers().offers}
    return sizes.get(name) or 4_920_000_000


def step(name: str, state: FetchState = FetchState.FETCHING, **changes: object) -> FetchStep:
    """A quarter has come."""
    total = size_of(name)
    done, rate = total // 4, 24_100_000.0
    made = FetchStep(name, state, done, total, rate, (total - done) / rate)
    return replace(made, **changes)


def ended(name: str, held: HeldBuild = HELD, **changes: object) -> FetchEnded:
    return FetchEnded(name, held, **changes)


def arrived(name: str) -> FetchEnded:
    """What was asked for is here."""
    file = f"{name.rpartition('/')[2].replace('-GGUF:', '-')}.gguf"
    return ended(name, own(9, name, file, size_of(name)))


def gated(name: str) -> FetchEnded:
    """As the hub refuses it."""
    repository = name.removeprefix("hf.co/").partition(":")[0]
    reason = Reason(
        "download_gated", {"name": repository, "page": f"https://huggingface.co/{repository}"}
    )
    return FetchEnded(name, None, reason)


def failed(name: str, code: str, **params: str | int) -> FetchEnded:
    return FetchEnded(name, None, Reason(code, {"name": name, **params}))


def no_room(name: str) -> FetchEnded:
    """What is least recently used goes, until it has room beside what stays."""
    return failed(
        name,
        "library_needs_room",
        need_bytes=size_of(name),
        names=f"{DAMAGED.name}, {HELD.name}",
        freed_bytes=DAMAGED.freed_bytes + HELD.freed_bytes,
    )


@cache
def use_known() -> UseKnown:
    """By the real rules, for the build that is here."""
    settings = UseSettings(context=4096, threads=6, layers=16, devices=("CUDA0",))
    facts = UseFacts(
        HELD.name,
        tuple(map(PurePosixPath, HELD.files)),
        HELD.size_bytes,
        "linux",
        settings,
        "bartowski/Llama-3.2-1B-Instruct-GGUF",
        HELD.quantization,
        (FoundPlace(GRAM, HELD.name, HELD.files[0]),),
    )
    return UseKnown(BuildUse(HELD.name, ways_of(facts)))


def hub_known(host: str = "huggingface.co") -> HubKnown:
    return HubKnown(f"https://{host}", host)


def token_known(source: TokenSource, reason: Reason | None = None) -> TokenKnown:
    return TokenKnown(TokenState("huggingface.co", source, reason))
