"""What a signed run says, how it is read back, and the row that lists it. Pure."""

import re

from desktop.errors import StatementError
from desktop.records.energy import Energy
from desktop.records.request import ResultRow
from desktop.records.run import PROTOCOL_VERSION, Rate, Run, SpeedTest
from desktop.records.statement import Statement
from desktop.rules.rates import energy_per_token_j
from desktop.rules.run_reading import RFC3339_UTC, run_from_body
from desktop.rules.run_writing import run_fields
from desktop.rules.strict_json import dump_canonical, parse_object

__all__ = ["RUN_TYPE", "result_row", "run_from_body", "run_payload"]

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
    try:
        _check_stamp(nonce, signed_at)
        body = run_fields(run) | {
            "protocol": PROTOCOL_VERSION,
            "nonce": nonce,
            "signed_at": signed_at,
        }
        text = dump_canonical(body)
        run_from_body(parse_object(text))
    except StatementError as e:
        raise StatementError("cannot_sign", detail=str(e.reason.params["detail"])) from e
    except ValueError as e:
        raise StatementError("cannot_sign", detail=str(e)) from e
    return text.encode("utf-8")


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
    )


def _check_stamp(nonce: str, signed_at: str) -> None:
    if not re.fullmatch(NONCE, nonce, re.ASCII):
        raise ValueError("the nonce is not 16 to 128 letters and digits")
    if not re.fullmatch(RFC3339_UTC, signed_at, re.ASCII):
        raise ValueError("the time of signing is not RFC 3339 in UTC")


def _rate(run: Run, *, generation: bool) -> Rate | None:
    """Of the plan's first pure test of that sort that was measured."""
    names = (t.name for t in run.plan.tests if _is_pure(t, generation=generation))
    return next((rate for rate in map(run.rate, names) if rate is not None), None)


def _is_pure(test: SpeedTest, *, generation: bool) -> bool:
    wanted, other = (test.n_gen, test.n_prompt) if generation else (test.n_prompt, test.n_gen)
    return wanted > 0 and other == 0


def _energy(run: Run, rate: Rate | None) -> Energy | None:
    return next((e for test, e in run.energy if rate and test == rate.test), None)
