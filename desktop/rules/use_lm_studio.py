"""How to run a build with LM Studio: a link in its folder of models, `lms load`, and settings.

Sources: lmstudio-ai/lms, `src/subcommands/importCmd.ts` (`--symbolic-link`, `--hard-link`,
`--user-repo`; the file keeps its name) and `load.ts` (`--exact` takes the path inside the folder of
models); lmstudio-ai/docs, `import-model.md`, `per-model.md` (a model's own settings count for
`lms load` too), `parallel-requests.md`. What `lms load` cannot set is set by hand, by its label.
"""

from math import floor
from pathlib import PurePath, PurePosixPath
from typing import Final

from desktop.errors import Reason
from desktop.records.offers import UseWay
from desktop.records.on_disk import FoundPlace
from desktop.records.use import UseFacts, UseSettings
from desktop.rules.shell_words import WINDOWS, command_line, in_turn, word
from desktop.rules.use_names import has_folders, is_gguf_name, short_name

PROGRAM: Final = "LM Studio"
_MODELS: Final = PurePosixPath(".lmstudio/models")
_HUB: Final = "hf.co/"
_KEY_PARTS: Final = 3
_SHARES: Final = 1000
_ALL: Final = "max"
_NONE: Final = "off"


def lm_studio(facts: UseFacts) -> UseWay:
    """The commands that link the build where LM Studio looks and load it, and what to set."""
    kept = facts.kept_by(PROGRAM)
    if kept is not None:
        return _way(facts, _key(kept), [], ())
    repository = None if has_folders(facts) else facts.repository
    folder = repository or f"local/{short_name(facts)}"
    if all(map(is_gguf_name, facts.files)):
        key = f"{folder}/{facts.files[0].name}"
        return _way(
            facts, key, [_import(facts, path, folder) for path in facts.files], _link(facts)
        )
    path = PurePosixPath(folder, f"{short_name(facts)}.gguf")
    return _way(facts, str(path), _by_hand(facts, path), (Reason("use_lms_folder"), *_link(facts)))


def _key(kept: FoundPlace) -> str | None:
    """The path inside LM Studio's folder; None where it does not lie as LM Studio wants it."""
    return "/".join(kept.path.parts[-_KEY_PARTS:]) if kept.name.startswith(_HUB) else None


def _way(facts: UseFacts, key: str | None, first: list[str], told: tuple[Reason, ...]) -> UseWay:
    meant = () if key is None else (key, "--exact")
    load = command_line(("lms", "load", *meant, *_options(facts.settings)), facts.system)
    choose = Reason("use_lms_list" if key is None else "use_lms_choose")
    steps = (*told, *_settings(facts.settings), choose)
    return UseWay(PROGRAM, in_turn([*first, load], facts.system), steps)


def _import(facts: UseFacts, path: PurePath, folder: str) -> str:
    # Windows gives symbolic links to administrators only
    how = "--hard-link" if facts.system == WINDOWS else "--symbolic-link"
    return command_line(("lms", "import", how, "--user-repo", folder, str(path)), facts.system)


def _by_hand(facts: UseFacts, path: PurePosixPath) -> list[str]:
    """A file whose name LM Studio would not look at gets another one beside."""
    where, file = _MODELS / path, word(str(facts.files[0]), facts.system)
    if facts.system != WINDOWS:
        folder, link = (f"~/{word(str(p), facts.system)}" for p in (where.parent, where))
        return [f"mkdir -p {folder}", f"ln -s {file} {link}"]
    folder, link = (
        f"(Join-Path $HOME {word(str(p), facts.system)})" for p in (where.parent, where)
    )
    return [
        f"New-Item -ItemType Directory -Force -Path {folder}",
        f"New-Item -ItemType HardLink -Path {link} -Target {file}",
    ]


def _options(settings: UseSettings) -> tuple[str, ...]:
    share = _share(settings)
    gpu = ("--gpu", share) if share else ()
    return (*gpu, "--context-length", str(settings.context))


def _share(settings: UseSettings) -> str | None:
    """Of the layers, never more than fit; None: how many there are is not known."""
    if not settings.cards or settings.gpu_layers == 0:
        return _NONE
    if settings.gpu_layers is None:
        return _ALL
    if settings.layers is None:
        return None
    # the output counts as one
    share = floor(_SHARES * settings.gpu_layers / (settings.layers + 1)) / _SHARES
    return _ALL if share >= 1 else f"{share:g}"


def _link(facts: UseFacts) -> tuple[Reason, ...]:
    code = "use_lms_hard_link" if facts.system == WINDOWS else "use_lms_link"
    return (Reason(code, {"size_bytes": facts.size_bytes}),)


def _settings(settings: UseSettings) -> tuple[Reason, ...]:
    layers, experts = settings.gpu_layers, settings.experts_on_host
    some = bool(layers) and _share(settings) not in {_ALL, _NONE}
    count = (Reason("use_lms_layers", {"layers": layers or 0}),) if some else ()
    moe = (Reason("use_lms_experts", {"layers": experts}),) if experts else ()
    cards = (Reason("use_lms_cards", {"devices": ", ".join(settings.devices)}),)
    return (
        Reason("use_lms_settings"),
        Reason("use_lms_threads", {"threads": settings.threads}),
        Reason("use_lms_parallel"),
        *count,
        *moe,
        *(cards if settings.devices else ()),
    )
