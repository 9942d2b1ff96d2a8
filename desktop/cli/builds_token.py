"""`gram builds token`: which token Hugging Face is asked with; keep one, or forget it."""

import os
import sys
from typing import Final

import click

from desktop.cli.options import Command

_MOST: Final = 4096
"""Letters that are read of a line; a token has some forty."""


@click.command("token", cls=Command)
@click.option(
    "--set",
    "keep",
    is_flag=True,
    help="Keep a token in the keychain: it is asked for and not shown, or read as one line from "
    "stdin.",
)
@click.option("--forget", is_flag=True, help="Take the token out of the keychain.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object for programs instead of text."
)
def show_token(*, keep: bool, forget: bool, as_json: bool) -> None:
    """Show where the token of Hugging Face comes from; never the token.

    Gated and private repositories need one, all others none. It is HF_TOKEN of the environment,
    else what was kept here in the system's keychain. It is sent to the host that it was kept for
    (huggingface.co, or the mirror of HF_ENDPOINT) and nowhere else. What other programs keep is
    never read.
    """
    from desktop.cli.begin import begin_log  # noqa: PLC0415 - only for who asks
    from desktop.cli.output import say, say_json  # noqa: PLC0415
    from desktop.cli.plain import to_plain  # noqa: PLC0415
    from desktop.cli.prose import paragraph  # noqa: PLC0415
    from desktop.paths import default_paths  # noqa: PLC0415
    from desktop.services import hub_access  # noqa: PLC0415

    if keep and forget:
        raise click.UsageError("Choose one of --set and --forget.")
    begin_log(default_paths())
    told = ""
    if keep:
        hub_access.keep_token(os.environ, _read(hub_access.host_to_keep_for(os.environ)))
        told = "The token is in the keychain."
    if forget:
        there = hub_access.forget_token(os.environ)
        told = "The token was taken out of the keychain." if there else "The keychain had none."
    state = hub_access.token_state(os.environ)
    if as_json:
        say_json(to_plain(state))
        return
    if told:
        say(told)
    say(f"{state.host}: {_WORDS[state.source]}")
    if state.reason is not None:
        paragraph(f"{state.reason.text()} {state.reason.advice()}".strip())
    elif state.source == "none":
        say("HF_TOKEN is not set in the environment, and the keychain has no token for this host.")
        say("Gated and private repositories need one: `gram builds token --set`.")


_WORDS: Final = {
    "environment": "the token of HF_TOKEN in the environment is sent.",
    "keychain": "the token in the keychain is sent.",
    "keychain_locked": "no token is sent: the keychain is locked.",
    "none": "no token is sent.",
}


def _read(host: str) -> str:
    """From a terminal without showing it, else one line of stdin."""
    if sys.stdin is not None and sys.stdin.isatty():
        token: str = click.prompt(f"Token of {host}", hide_input=True, err=True)
    else:
        token = "" if sys.stdin is None else sys.stdin.readline(_MOST)
    if not token.strip():
        raise click.UsageError("There is no token on stdin: write it as one line.")
    return token
