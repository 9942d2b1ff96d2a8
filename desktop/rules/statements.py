"""What signed runs and parts say, how they are read back, and the row that lists a run. Pure."""

import re
from collections.abc import Callable
from typing import NamedTuple

from desktop.errors import StatementError
from desktop.records.energy import Energy
from desktop.records.parts import PARTS_VERSION, Parts
from desktop.records.request import ResultRow
from desktop.records.run import PROTOCOL_VERSION, Note, Rate, Run, SpeedTest
from desktop.records.statement import Statement
from desktop.rules.fields import RFC3339_UTC
from desktop.rules.machine_writing import Fields
from desktop.rules.marks import marks_of
from desktop.rules.parts_reading import parts_from_body
from desktop.rules.parts_writing import parts_fields
from desktop.rules.rates import energy_per_token_j
from desktop.rules.run_reading import run_from_body
from desktop.rules.run_writing import run_fields
from desktop.rules.strict_json import dump_canonical, parse_object

__all__ = [
    "PARTS_TYPE",
    "RUN_TYPE",
    "parts_from_body",
    "parts_payload",
    "result_row",
    "run_from_body",
    "run_payload",
]

PARTS_TYPE = "application/vnd.gram.parts.v1+json"
RUN_TYPE = "application/vnd.gram.run.v1+json"
NONCE = r"[0-9A-Za-z_-]{16,128}"


def run_payload(run: Run, *, nonce: str, signed_at: str) -> bytes:
    """The bytes to sign: canonical JSON (sorted keys, no spaces, UTF-8) of an allow-list.

    Args:
        run: with every repetition raw, warm-ups too. Rates are not signed: they follow from these.
        nonce: 16 to 128 letters and digits, fresh for each statement.
        signed_at: RFC 3339, UTC, to the second.

    Raises:
        StatementError: `cannot_sign` when a value could not be read back from the statement: a
            text over 256 characters, a number that is not finite, a repetition without duration.
    """
    stamp = _Stamp(PROTOCOL_VERSION, nonce, signed_at)
    return _payload(lambda: run_fields(run), run_from_body, stamp)


def parts_payload(parts: Parts, *, nonce: str, signed_at: str) -> bytes:
    """The bytes to sign, made as those of a run.

    Args:
        parts: with the duration of every repetition. Rates are not signed: they follow from these.
        nonce: 16 to 128 letters and digits, fresh for each statement.
        signed_at: RFC 3339, UTC, to the second.

    Raises:
        StatementError: `cannot_sign` when a value could not be read back from the statement.
    """
    stamp = _Stamp(PARTS_VERSION, nonce, signed_at)
    return _payload(lambda: parts_fields(parts), parts_from_body, stamp)


def result_row(statement: Statement, run: Run) -> ResultRow:
    """The line of one result in a list.

    Args:
        statement: verified, of type `RUN_TYPE`.
        run: what `run_from_body` made of its body.
    """
    prompt = _rate(run, generation=False)
    generation = _rate(run, generation=True)
    energy = _energy(run, generation)
    return ResultRow(
        id=statement.id,
        key_id=statement.key_id,
        at=run.started_at,
        build=run.build.name,
        synthetic=run.build.synthetic,
        engine=f"{run.engine.name} {run.engine.version}, {run.engine.backend}",
        prompt_tok_s=prompt.median_tok_s if prompt else None,
        prompt_spread=prompt.spread if prompt else None,
        generation_tok_s=generation.median_tok_s if generation else None,
        generation_spread=generation.spread if generation else None,
        energy_per_token_j=energy_per_token_j(run, generation.test) if generation else None,
        energy_source=f"{energy.meter.source.value} ({energy.meter.name})" if energy else None,
        prompt_marks=_marks(run, prompt),
        generation_marks=_marks(run, generation),
        notes=run.notes,
    )


class _Stamp(NamedTuple):
    protocol: int
    nonce: str
    signed_at: str

    def check(self) -> None:
        if not re.fullmatch(NONCE, self.nonce, re.ASCII):
            raise ValueError("the nonce is not 16 to 128 letters and digits")
        if not re.fullmatch(RFC3339_UTC, self.signed_at, re.ASCII):
            raise ValueError("the time of signing is not RFC 3339 in UTC")


def _payload(
    write: Callable[[], Fields], read: Callable[[dict[str, object]], object], stamp: _Stamp
) -> bytes:
    """Canonical JSON of what `write` gives, which `read` must be able to read back."""
    try:
        stamp.check()
        text = dump_canonical(write() | stamp._asdict())
        read(parse_object(text))
    except StatementError as e:
        raise StatementError("cannot_sign", detail=str(e.reason.params["detail"])) from e
    except ValueError as e:
        raise StatementError("cannot_sign", detail=str(e)) from e
    return text.encode("utf-8")


def _rate(run: Run, *, generation: bool) -> Rate | None:
    """Of the plan's first pure test of that sort that was measured."""
    names = (t.name for t in run.plan.tests if _is_pure(t, generation=generation))
    return next((rate for rate in map(run.rate, names) if rate is not None), None)


def _marks(run: Run, rate: Rate | None) -> tuple[Note, ...]:
    return () if rate is None else marks_of(rate.spread, run.plan.target_spread)


def _is_pure(test: SpeedTest, *, generation: bool) -> bool:
    wanted, other = (test.n_gen, test.n_prompt) if generation else (test.n_prompt, test.n_gen)
    return wanted > 0 and other == 0


def _energy(run: Run, rate: Rate | None) -> Energy | None:
    return next((e for test, e in run.energy if rate and test == rate.test), None)
