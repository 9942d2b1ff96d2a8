"""How to run a build with llama.cpp's server, as Gram measures it.

Options as of llama.cpp 0c1e57098: `tools/server/README.md`, `common/arg.cpp`. What would change a
run is said even where it is the default, for defaults change: `-fa` did, `-ngl` did. The server's
own are set to what a measurement has: one sequence (by default four, each with a sliding window's
cache), no prompts kept in memory (by default up to 8 GiB), nothing fitted.
"""

from typing import Final

from desktop.errors import Reason
from desktop.records.offers import UseWay
from desktop.records.use import UseFacts, UseSettings
from desktop.rules.shell_words import command_line

PROGRAM: Final = "llama-server"
_HOST: Final = "127.0.0.1"
_PORT: Final = 8080
_AS_MEASURED: Final = ("-fa", "auto", "-np", "1", "--cache-ram", "0", "--fit", "off")


def llama_server(facts: UseFacts) -> UseWay:
    """The command that serves the build on this machine only."""
    words = (
        *(PROGRAM, "-m", str(facts.files[0])),
        *settings_words(facts.settings),
        *("--host", _HOST, "--port", str(_PORT)),
    )
    return UseWay(PROGRAM, command_line(words, facts.system), _steps(facts))


def settings_words(settings: UseSettings) -> tuple[str, ...]:
    """The options that make a run what Gram measures."""
    return (
        *("-c", str(settings.context)),
        *_places(settings),
        *("-t", str(settings.threads)),
        *("-b", str(settings.n_batch), "-ub", str(settings.n_ubatch)),
        *_AS_MEASURED,
    )


def _places(settings: UseSettings) -> tuple[str, ...]:
    if not settings.cards:
        return ("-ngl", "0", "-dev", "none")
    layers = "all" if settings.gpu_layers is None else str(settings.gpu_layers)
    experts = settings.experts_on_host
    return (
        *(("-dev", ",".join(settings.devices)) if settings.devices else ()),
        *("-ngl", layers),
        *(("--n-cpu-moe", str(experts)) if experts else ()),
    )


def _steps(facts: UseFacts) -> tuple[Reason, ...]:
    split = (Reason("use_llama_split", {"count": len(facts.files)}),)
    return (
        Reason("use_llama_address", {"address": f"http://{_HOST}:{_PORT}"}),
        Reason("use_llama_measured"),
        *(split if len(facts.files) > 1 else ()),
    )
