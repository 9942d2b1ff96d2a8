"""The commands `gram builds …`: their options and help; the work is in `builds_*`."""

import sys
from typing import Any, ClassVar, Final

import click

from desktop.cli.builds_token import show_token
from desktop.cli.options import Command, Commands, Seconds, Whole

_JSON: Final = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object for programs instead of text."
)


class _Rate(Seconds):
    """MB a second."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """As a number's; what is none is told how to write it."""
        try:
            float(value)
        except ValueError:
            said = f"{value!r} is not a number. Write MB a second without a unit, as 5 or 0.5."
            self.fail(said, param, ctx)
        return super().convert(value, param, ctx)


class _Builds(Commands):
    otherwise: ClassVar = {
        "remove": "rm",
        "delete": "rm",
        "download": "get",
        "pull": "get",
        "fetch": "get",
        "ls": "list",
        "find": "search",
    }


@click.group("builds", cls=_Builds, invoke_without_command=True)
@_JSON
@click.pass_context
def builds(context: click.Context, *, as_json: bool) -> None:
    """Find builds that fit, fetch them safely, and keep house.

    Without a command: what is on this machine, whoever keeps it (Ollama, LM Studio, Hugging Face's
    cache and others are looked through and used in place, never changed).

    \b
    gram builds search llama 3.2           what can be had, what fits first
    gram builds get bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M
    gram builds use NAME                   how to run it with other programs
    gram builds rm NAME                    remove one that Gram fetched
    """  # noqa: D301 - click reads the backspace as: keep these lines as they are
    if context.invoked_subcommand is None:
        _list(as_json=as_json)
    elif as_json:
        raise click.UsageError("Write --json behind the command.")


@builds.command("list", cls=Command)
@_JSON
def show_list(*, as_json: bool) -> None:
    """List the builds on this machine, and what Gram's own take of the disk."""
    _list(as_json=as_json)


@builds.command("search", cls=Command)
@click.argument("words", nargs=-1)
@click.option(
    "--all", "every", is_flag=True, help="Every quantization and publisher that is known."
)
@click.option("--offline", is_flag=True, help="Ask nobody: what is known from before.")
@click.option(
    "--context",
    type=Whole(1, 1 << 24),
    metavar="N",
    help="Tokens that memory must have room for. Default: 4096, or what it was trained for.",
)
@_JSON
def search(words: tuple[str, ...], **options: Any) -> None:
    """Show builds that can be had: what fits here first, with how fast it would run.

    WORDS choose models and added repositories by their names, and a quantization by its label; or
    they name a repository, `owner/repo`. Without any: what fits best here. Rates are estimates, as
    `gram fits` has them. With a connection the repositories are asked for exact sizes, and Hugging
    Face for more of them.
    """
    from desktop.cli import builds_search  # noqa: PLC0415

    sys.exit(builds_search.run(words, **options))


@builds.command("add", cls=Command)
@click.argument("name")
@_JSON
def add(name: str, *, as_json: bool) -> None:
    """Add a repository, or a file or folder of your own.

    NAME is `owner/repo`, `hf.co/owner/repo`, an address of Hugging Face, or a path. A repository's
    builds are then among those that can be had; files and folders are looked through, used in
    place, and never changed.
    """
    from desktop.cli import builds_search  # noqa: PLC0415

    builds_search.add(name, as_json=as_json)


@builds.command("get", cls=Command)
@click.argument("name")
@click.option("--anyway", is_flag=True, help="Also if it would not run on this machine.")
@click.option("--metered", is_flag=True, help="Also over a connection that is metered.")
@click.option(
    "--make-room",
    is_flag=True,
    help="Remove Gram's least recently used builds if there is no room otherwise.",
)
@click.option(
    "--limit",
    "limit_mb_s",
    type=_Rate(0.01, 1e6),
    metavar="MB_S",
    help="Take no more than so many MB a second. Default: builds.limit_mb_s of `gram settings`.",
)
@_JSON
def get(**options: Any) -> None:
    """Fetch a build, unless it is on this machine already.

    NAME is as users write it: `hf.co/owner/repo:Q4_K_M`, `owner/repo`, or an address. Every byte is
    verified. Stop it with Ctrl+C: it goes on where it was when it is asked for again.
    """
    from desktop.cli import builds_get  # noqa: PLC0415

    sys.exit(builds_get.run(**options))


@builds.command("rm", cls=Command)
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_JSON
def rm(name: str, *, yes: bool, as_json: bool) -> None:
    """Remove a build that Gram fetched or made; or forget what you added.

    NAME is a name as for `get`, a path, or how the build's sha256 begins (8 digits or more). What
    other programs keep is never removed.
    """
    from desktop.cli import builds_shelf  # noqa: PLC0415

    sys.exit(builds_shelf.remove(name, yes=yes, as_json=as_json))


@builds.command("verify", cls=Command)
@click.argument("name", required=False)
@_JSON
def verify(name: str | None, *, as_json: bool) -> None:
    """Read a build again from end to end, or all of Gram's own; what is damaged is set aside.

    NAME is a name as for `get`, a path, or how the build's sha256 begins (8 digits or more). What
    other programs keep is compared with what they or its repository say of it, and not changed.
    """
    from desktop.cli import builds_shelf  # noqa: PLC0415

    sys.exit(builds_shelf.verify(name, as_json=as_json))


@builds.command("pin", cls=Command)
@click.argument("name")
@_JSON
def pin(name: str, *, as_json: bool) -> None:
    """Keep a build whatever the disk budget says.

    NAME is a name as for `get`, a path, or how the build's sha256 begins (8 digits or more).
    """
    from desktop.cli import builds_shelf  # noqa: PLC0415

    builds_shelf.pin(name, pinned=True, as_json=as_json)


@builds.command("unpin", cls=Command)
@click.argument("name")
@_JSON
def unpin(name: str, *, as_json: bool) -> None:
    """Let a build be removed again when room is needed."""
    from desktop.cli import builds_shelf  # noqa: PLC0415

    builds_shelf.pin(name, pinned=False, as_json=as_json)


@builds.command("use", cls=Command)
@click.argument("name")
@click.option(
    "--context",
    type=Whole(1, 1 << 24),
    metavar="N",
    help="Tokens that memory must have room for. Default: 4096, or what it was trained for.",
)
@click.option("--copy", is_flag=True, help="Also put the first command into the clipboard.")
@_JSON
def use(name: str, *, context: int | None, copy: bool, as_json: bool) -> None:
    """Show how to run a build best here with llama-server, Ollama or LM Studio.

    NAME is a build on this machine: a name, a path, or how its sha256 begins (8 digits or more).
    """
    from desktop.cli import builds_use  # noqa: PLC0415

    builds_use.run(name, context=context, copy=copy, as_json=as_json)


builds.add_command(show_token)


def _list(*, as_json: bool) -> None:
    from desktop.cli import builds_shelf  # noqa: PLC0415

    builds_shelf.show(as_json=as_json)
