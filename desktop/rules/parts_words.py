"""The parts' tests, and why one has no figure, in English words: the window translates them."""

from collections.abc import Mapping
from typing import Final

from desktop.records.parts import PartTest, Skipped

TESTS: Final[Mapping[PartTest, str]] = {
    PartTest.MATMUL_F16: "product, F16",
    PartTest.MATVEC_F16: "matrix-vector, F16",
    PartTest.MATVEC_Q8_0: "matrix-vector, Q8_0",
    PartTest.MATVEC_Q6_K: "matrix-vector, Q6_K",
    PartTest.MATVEC_Q4_K: "matrix-vector, Q4_K",
    PartTest.MATVEC_Q4_0: "matrix-vector, Q4_0",
    PartTest.COPY: "copy, F32",
    PartTest.SMALL_GRAPH: "small graph",
}
WHY: Final[Mapping[Skipped, str]] = {
    Skipped.UNSUPPORTED: "the device's back end cannot do it",
    Skipped.MEMORY: "not enough free memory",
    Skipped.TIME: "not enough time",
    Skipped.FAILED: "the back end reported an error",
    Skipped.WRONG: "the device computed a wrong result",
    Skipped.CRASHED: "the measuring process ended or fell silent",
}
