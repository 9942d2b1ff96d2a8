"""Write docs/captures.md: `python tests/captures/table.py` from the repository's root."""

import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
OUT = ROOT / "docs" / "captures.md"
_SYSTEMS = {"linux": "Linux", "windows": "Windows", "macos": "macOS"}


def table() -> str:
    """The page, each capture detected anew."""
    from tests.captures import whole

    captures = [whole.load(name) for name in whole.names()]
    rows = [_row(capture) for capture in captures]
    passed = sum(row.endswith("yes |") for row in rows)
    systems = Counter(_SYSTEMS[capture.os] for capture in captures)
    counted = ", ".join(f"{count} {system}" for system, count in systems.items())
    blind = sum(capture.by == "blind" for capture in captures)
    return f"""# Captured machines

Made by `python tests/captures/table.py`; do not edit. Each row is a file of `tests/captures/machines`: what a machine's system
and drivers print, and what the machine is. The program's own readers and parsers run on it; *passed* means that nothing that the file expects came out otherwise
(`tests/unit/test_captures.py`). The files are real-shaped and written for these tests, from public pages that each names: nothing was read from a person's machine.

{passed} of {len(captures)} passed: {counted}. {blind} were written by people who had not seen the parsers.

| file | machine | case | kind of machine found | on the card | with offload | passed |
|---|---|---|---|---|---|---|
{chr(10).join(rows)}
"""


def _row(capture) -> str:
    from desktop.rules.kind import kind_label
    from desktop.rules.memory_answers import memory_answers
    from tests.captures import whole
    from tests.captures.compare import differences

    with tempfile.TemporaryDirectory() as folder:
        found = whole.find(capture, Path(folder))
    answers = memory_answers(found.machine)
    cells = (
        capture.name,
        capture.about.replace("|", "/"),
        capture.case or "",
        kind_label(found.machine),
        _gib(answers.on_card_bytes),
        _gib(answers.with_offload_bytes),
        "no" if differences(capture, found) else "yes",
    )
    return f"| {' | '.join(cells)} |"


def _gib(size: int | None) -> str:
    return "–" if size is None else f"{size / 2**30:.1f} GiB"  # noqa: RUF001


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    OUT.write_text(table(), encoding="utf-8")
