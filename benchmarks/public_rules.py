"""Published rules of other tools, as one function each: a row asked, tokens a second answered.

- `constant`: 0.67 x bandwidth ÷ file size.
- `llmfit` (docs/how-it-works.md and llmfit-core/src/fit.rs of AlexsJones/llmfit; PyPI llmfit 1.1.17
  has the binary only): bandwidth in GB/s ÷ (parameters in 10⁹ x bytes per parameter) x 0.55, with
  2.0 bytes for F16, 1.0 for Q8_0, 0.5 for 4 bits; of mixtures the active parameters. Its table of
  corrections for some mixtures is not reproduced. Without a bandwidth for processors: 70 ÷
  parameters x a factor of the quantization (1.15 at 4 bits). It states no range.
- `whichllm` (PyPI whichllm 0.5.21, engine/performance.py): bandwidth ÷ file size x efficiency of
  the quantization (F16 0.40, Q8_0 0.45, Q4_K_M and MXFP4 0.55, Q4_0 0.53, IQ4_XS 0.52, IQ4_NL 0.50)
  x factor of the maker (NVIDIA 1, Apple 0.82, AMD 0.78, Intel 0.65); of mixtures the larger of the
  active share and min(0.25, 0.05 x bandwidth ÷ 256 GB/s). On processors 18 ÷ parameters in 10⁹ x
  efficiency ÷ 0.45. Its range is 0.60 to 1.60 of it, 0.35 to 2.00 for mixtures on Apple's chips and
  for processors.
- `canirun.ai` (packages/compatibility and packages/models of midudev/canirun.ai): bandwidth in GB/s
  ÷ working set x 0.70, on Apple's chips 0.65, rounded; the working set is parameters x bytes per
  parameter (2.0, 1.0, 0.5 as llmfit's) in GiB x 1.1 + 0.5, rounded to 0.1; of mixtures x the active
  share, at least 0.5. It states no range and has no rule for processors.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from public_rows import GIB, Row

GIGA: Final = 1e9
BYTES_A_PARAMETER: Final = {"fp16": 2.0, "q8_0": 1.0}
"""All others of the rows have 4 bits."""
WHICHLLM: Final[Mapping[str, float]] = {
    "fp16": 0.40,
    "q8_0": 0.45,
    "q4_k_m": 0.55,
    "q4_0": 0.53,
    "iq4_xs": 0.52,
    "iq4_nl": 0.50,
    "mxfp4": 0.55,
}
MAKERS: Final = {"nvidia": 1.0, "apple": 0.82, "amd": 0.78, "intel": 0.65}


@dataclass(frozen=True, slots=True)
class Answer:
    """A rule's rate, and its range where it states one."""

    tok_s: float
    low_tok_s: float | None = None
    high_tok_s: float | None = None


def constant(row: Row) -> Answer | None:
    """0.67 of the bandwidth."""
    return Answer(0.67 * _bandwidth(row) / (row.file_bytes * _active_share(row)))


def llmfit(row: Row) -> Answer | None:
    """Of AlexsJones/llmfit."""
    billions = _active(row) / GIGA
    if row.backend == "CPU":
        return Answer(70 / billions * 1.15)
    return Answer(_bandwidth(row) / GIGA / (billions * _bytes_a_parameter(row)) * 0.55)


def whichllm(row: Row) -> Answer | None:
    """Of Andyyyy64/whichllm."""
    efficiency = WHICHLLM[row.quant.id]
    if row.backend == "CPU":
        rate = 18 / (_active(row) / GIGA) * efficiency / 0.45
        return Answer(rate, 0.35 * rate, 2.0 * rate)
    maker, bandwidth = _maker(row), _bandwidth(row)
    floor = min(0.25, 0.05 * max(1.0, bandwidth / GIGA / 256))
    read = max(_active_share(row), floor) if row.model.is_mixture else 1.0
    rate = bandwidth / (row.file_bytes * read) * efficiency * MAKERS[maker]
    low, high = (0.35, 2.0) if row.model.is_mixture and maker == "apple" else (0.6, 1.6)
    return Answer(rate, low * rate, high * rate)


def canirun(row: Row) -> Answer | None:
    """Of midudev/canirun.ai."""
    if row.backend == "CPU":
        return None
    held = round(row.model.parameters * _bytes_a_parameter(row) / GIB * 1.1 + 0.5, 1)
    active = _active(row) / row.model.parameters
    working = max(0.5, held * active) if active < 1 else held
    efficiency = 0.65 if _maker(row) == "apple" else 0.7
    return Answer(max(1.0, float(round(_bandwidth(row) / GIGA / working * efficiency))))


RULES: Final[Mapping[str, Callable[[Row], Answer | None]]] = {
    "constant 0.67": constant,
    "llmfit": llmfit,
    "whichllm": whichllm,
    "canirun.ai": canirun,
}


def _bandwidth(row: Row) -> float:
    """The same as ours, so that rules are compared and not tables."""
    return row.configuration.bandwidth_bytes_s or row.file_bandwidth_bytes_s


def _active(row: Row) -> int:
    return row.model.active_parameters or row.model.parameters


def _active_share(row: Row) -> float:
    return _active(row) / row.model.parameters


def _bytes_a_parameter(row: Row) -> float:
    return BYTES_A_PARAMETER.get(row.quant.id, 0.5)


def _maker(row: Row) -> str:
    return row.configuration.device_class.split("-", maxsplit=1)[0]
