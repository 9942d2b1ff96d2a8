"""The commands `gram results` and `gram verify`: options and help; the work is in `results`."""

import click

from desktop.cli.options import Command


@click.command("results", cls=Command)
@click.argument("result", metavar="[ID]", required=False)
@click.option("--parts", "only_parts", is_flag=True, help="Only the machine's parts.")
@click.option("--export", metavar="ID", help="Print the signed statement with this id.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print JSON for programs instead of text: the list of runs, with --parts that of parts, "
    "with ID one object.",
)
def show_results(
    result: str | None, *, only_parts: bool, export: str | None, as_json: bool
) -> None:
    """List what was measured here, newest first; or show the one with this ID in full.

    What a run cost, price and carbon, is derived anew by the settings of today.
    """
    from desktop.cli import results as door  # noqa: PLC0415
    from desktop.cli.begin import begin_log  # noqa: PLC0415
    from desktop.paths import default_paths  # noqa: PLC0415

    if (result is not None) + only_parts + (export is not None) > 1:
        raise click.UsageError("Give only one of ID, --parts and --export.")
    begin_log(default_paths())
    if export is not None:
        door.export(default_paths(), export)
    elif result is not None:
        door.show_one(default_paths(), result, as_json=as_json)
    else:
        door.list_all(default_paths(), only_parts=only_parts, as_json=as_json)


@click.command("verify", cls=Command)
@click.argument("statement", metavar="FILE|ID|-")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object for programs instead of text."
)
def verify_statement(statement: str, *, as_json: bool) -> None:
    """Check a signed statement: a file, the id of a result kept here, or - for standard input."""
    from desktop.cli import results as door  # noqa: PLC0415
    from desktop.paths import default_paths  # noqa: PLC0415

    door.verify(default_paths(), statement, as_json=as_json)
