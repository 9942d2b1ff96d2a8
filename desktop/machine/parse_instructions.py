"""Instruction sets that matter to the engine, in Linux's words, sorted.

Linux: `arch/x86/include/asm/cpufeatures.h`, `arch/arm64/kernel/cpuinfo.c`. `neon` stands for what
64-bit ARM calls `asimd`, so that one word means one thing.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

_WANTED: Final = frozenset(
    {"sse4_2", "avx", "f16c", "fma", "bmi2", "avx2", "avx_vnni", "avx_vnni_int8"}
    | {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni", "avx512vbmi"}
    | {"avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16"}
    | {"neon", "asimdhp", "asimddp", "i8mm", "bf16", "sve", "sve2", "svei8mm", "svebf16"}
    | {"sme", "sme2"}
)
_LINUX_WORDS: Final = {"asimd": "neon"}
_MAC_X86_WORDS: Final = {
    "avx1.0": "avx",
    "sse4.2": "sse4_2",
    "avx512vnni": "avx512_vnni",
}
_MAC_ARM_WORDS: Final = {
    "hw.optional.arm64": "neon",
    "hw.optional.neon": "neon",
    "hw.optional.AdvSIMD": "neon",
    "hw.optional.arm.FEAT_FP16": "asimdhp",
    "hw.optional.arm.FEAT_DotProd": "asimddp",
    "hw.optional.arm.FEAT_I8MM": "i8mm",
    "hw.optional.arm.FEAT_BF16": "bf16",
    "hw.optional.arm.FEAT_SME": "sme",
    "hw.optional.arm.FEAT_SME2": "sme2",
}
"""Apple's documentation of these names; its chips all have Advanced SIMD, said or not."""


def wanted(words: Iterable[str]) -> tuple[str, ...]:
    """Those of the words that matter, sorted."""
    return tuple(sorted(_WANTED.intersection(words)))


def of_cpuinfo(text: str) -> tuple[str, ...]:
    """From `/proc/cpuinfo`: what all kinds of core have, since a thread may run on any of them."""
    lines = re.findall(r"^(?:flags|Features)[ \t]*:[ \t]*(.*)$", text, re.MULTILINE)
    sets = [{_LINUX_WORDS.get(word, word) for word in line.split()} for line in lines]
    return wanted(set.intersection(*sets)) if sets else ()


def of_sysctl(values: Mapping[str, str]) -> tuple[str, ...]:
    """From macOS's `sysctl`, both kinds of Mac."""
    names = ("machdep.cpu.features", "machdep.cpu.leaf7_features")
    told = " ".join(values.get(name, "") for name in names).lower().split()
    arm = [word for name, word in _MAC_ARM_WORDS.items() if values.get(name) == "1"]
    if values.get("machdep.cpu.brand_string", "").startswith("Apple"):
        arm.append("neon")
    return wanted([*(_MAC_X86_WORDS.get(word, word) for word in told), *arm])
