"""What macOS tells."""

from desktop.sources.commands import LIMIT_S, run_tool, text_or_none

_SYSCTLS = (
    "machdep.cpu.brand_string",
    "hw.physicalcpu",
    "hw.logicalcpu",
    "hw.packages",
    "hw.memsize",
    "kern.hv_vmm_present",
    "iogpu.wired_limit_mb",
)


def read_sysctl(limit_s: float = LIMIT_S) -> str | None:
    """`name: value` lines; names that this macOS does not have are left out of them."""
    # one unknown name makes sysctl fail but print the others: so each is asked for apart
    texts = (text_or_none(run_tool(["sysctl", name], limit_s)) for name in _SYSCTLS)
    return "".join(text for text in texts if text is not None) or None


def read_displays(limit_s: float = LIMIT_S) -> str | None:
    """JSON of the graphics part of System Information."""
    return text_or_none(run_tool(["system_profiler", "-json", "SPDisplaysDataType"], limit_s))
