"""How to run a build with Ollama: a Modelfile with the settings, over what Ollama keeps or a file.

Sources, ollama/ollama: `docs/modelfile.mdx`, `docs/faq.mdx`, `parser/parser.go` (what a Modelfile
can name: other than ASCII spaces, what is not printed is dropped), `server/create.go` (a file's
name is a path inside the store, so no colon and no backslash), `server/split_gguf.go` (split sets
since 0.35), `llm/llama_server.go` (`num_ctx`, `num_gpu`, `num_thread` and `num_batch` become `-c`,
`-ngl`, `-t`, and `-b` with `-ub`).
"""

import re
from typing import Final

from desktop.errors import Reason
from desktop.records.offers import UseWay
from desktop.records.on_disk import FoundPlace
from desktop.records.use import UseFacts, UseSettings
from desktop.rules.shell_words import command_line, in_turn
from desktop.rules.use_names import short_name

PROGRAM: Final = "Ollama"
MODELFILE: Final = "Modelfile"
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:/-]*")
"""Of a host with its port, a namespace, a model and a tag, together (`types/model/name.go`)."""
_ALL_LAYERS: Final = 999
"""More than any model has: Ollama's -1 would leave the number to it."""


def ollama(facts: UseFacts) -> UseWay:
    """The Modelfile and the commands; only the reason where Ollama cannot take the file."""
    if _kept(facts) is None and not _can_name(facts):
        return UseWay(PROGRAM, "", (Reason("use_ollama_name"), *_download(facts)))
    # a name of its own: one that Ollama has would be written over
    name = f"gram-{short_name(facts)}"
    commands = [
        command_line(("ollama", "create", name, "-f", MODELFILE), facts.system),
        command_line(("ollama", "run", name), facts.system),
    ]
    return UseWay(PROGRAM, in_turn(commands, facts.system), _steps(facts), _modelfile(facts))


def _kept(facts: UseFacts) -> FoundPlace | None:
    """Ollama's own, by a name that it would take: any other could write lines of its own."""
    kept = facts.kept_by(PROGRAM)
    return kept if kept and _NAME.fullmatch(kept.name) else None


def _can_name(facts: UseFacts) -> bool:
    return all(
        str(path).isprintable() and not set(path.name).intersection(":\\") for path in facts.files
    )


def _modelfile(facts: UseFacts) -> str:
    kept = _kept(facts)
    sources = [kept.name] if kept else [_value(str(path)) for path in facts.files]
    lines = [f"FROM {source}" for source in sources]
    lines += [f"PARAMETER {name} {value}" for name, value in _parameters(facts.settings)]
    return "".join(f"{line}\n" for line in lines)


def _value(text: str) -> str:
    """Spaces at the ends count only between quotes; all else stands as it is."""
    return text if text == text.strip() else f'"{text}"'


def _parameters(settings: UseSettings) -> tuple[tuple[str, int], ...]:
    layers = settings.gpu_layers if settings.cards else 0
    return (
        ("num_ctx", settings.context),
        # with experts left behind the number of layers would say that all lies on the card
        *(
            ()
            if settings.experts_on_host
            else (("num_gpu", _ALL_LAYERS if layers is None else layers),)
        ),
        ("num_thread", settings.threads),
        ("num_batch", settings.n_ubatch),
    )


def _steps(facts: UseFacts) -> tuple[Reason, ...]:
    kept, settings = _kept(facts), facts.settings
    experts = Reason("use_ollama_experts", {"layers": settings.experts_on_host or 0})
    return (
        Reason("use_ollama_modelfile", {"file": MODELFILE}),
        *((Reason("use_ollama_kept", {"name": kept.name}),) if kept else _copy(facts)),
        Reason("use_ollama_service"),
        *((experts,) if settings.experts_on_host else ()),
        *((Reason("use_ollama_cards"),) if settings.devices else ()),
    )


def _copy(facts: UseFacts) -> tuple[Reason, ...]:
    split = (Reason("use_ollama_split"),) if len(facts.files) > 1 else ()
    return (Reason("use_ollama_copy", {"size_bytes": facts.size_bytes}), *split, *_download(facts))


def _download(facts: UseFacts) -> tuple[Reason, ...]:
    """The hub gives Ollama no split sets."""
    if facts.repository is None or facts.quantization is None or len(facts.files) > 1:
        return ()
    words = ("ollama", "run", f"hf.co/{facts.repository}:{facts.quantization}")
    command = command_line(words, facts.system)
    return (Reason("use_ollama_download", {"command": command, "size_bytes": facts.size_bytes}),)
