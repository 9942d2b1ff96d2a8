"""How to run a build best on this machine with the programs that people use."""

from dataclasses import replace

from desktop.errors import Reason
from desktop.records.offers import UseWay
from desktop.records.use import UseFacts
from desktop.rules.shell_words import WINDOWS
from desktop.rules.use_llama_server import llama_server
from desktop.rules.use_lm_studio import lm_studio
from desktop.rules.use_ollama import ollama


def ways_of(facts: UseFacts) -> tuple[UseWay, ...]:
    """One way for each program, llama-server first: it alone takes all settings.

    Commands hold paths of this machine: they are shown here and go nowhere else.
    """
    ways = (llama_server(facts), ollama(facts), lm_studio(facts))
    return tuple(_with_shell(way, facts.system) for way in ways)


def _with_shell(way: UseWay, system: str) -> UseWay:
    """On Windows, which of its shells the command is for: they quote in their own ways."""
    if system != WINDOWS or not way.command:
        return way
    return replace(way, steps=(Reason("use_powershell"), *way.steps))
