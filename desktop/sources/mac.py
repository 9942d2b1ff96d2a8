"""What macOS tells through its own tools."""

from desktop.sources.commands import LIMIT_S, ToolFailure, run_tool

SYSCTLS = (
    "machdep.cpu.brand_string",
    "machdep.cpu.features",
    "machdep.cpu.leaf7_features",
    "hw.physicalcpu",
    "hw.logicalcpu",
    "hw.packages",
    "hw.memsize",
    "hw.model",
    "hw.optional.arm64",
    "hw.optional.arm.FEAT_BF16",
    "hw.optional.arm.FEAT_DotProd",
    "hw.optional.arm.FEAT_FP16",
    "hw.optional.arm.FEAT_I8MM",
    "hw.optional.arm.FEAT_SME",
    "hw.optional.arm.FEAT_SME2",
    "kern.hv_vmm_present",
    "iogpu.wired_limit_mb",
)
"""All that is asked for; what names a person or one machine is not among them."""


def read_sysctl(limit_s: float = LIMIT_S) -> str | ToolFailure:
    """`name: value` lines; names that this macOS does not have are left out of them."""
    # one unknown name makes sysctl fail but print the others: so each is asked for apart
    told = [run_tool(["sysctl", name], limit_s) for name in SYSCTLS]
    texts = [text for text in told if isinstance(text, str)]
    return "".join(texts) if texts else told[0]


def read_profile(limit_s: float = LIMIT_S) -> str | ToolFailure:
    """JSON of the graphics and memory parts of System Information."""
    parts = ["SPDisplaysDataType", "SPMemoryDataType"]
    return run_tool(["system_profiler", "-json", *parts], limit_s)


def read_agx(limit_s: float = LIMIT_S) -> str | ToolFailure:
    """The IORegistry's entry of Apple's graphics unit."""
    return run_tool(["ioreg", "-rd1", "-c", "AGXAccelerator"], limit_s)


def read_battery(limit_s: float = LIMIT_S) -> str | ToolFailure:
    """`pmset -g batt`: what feeds the machine, and the charge."""
    return run_tool(["pmset", "-g", "batt"], limit_s)


def read_thermal(limit_s: float = LIMIT_S) -> str | ToolFailure:
    """`pmset -g therm`: whether heat limits the processor; few Macs tell it."""
    return run_tool(["pmset", "-g", "therm"], limit_s)


def read_power_settings(limit_s: float = LIMIT_S) -> str | ToolFailure:
    """`pmset -g`: the settings in use, the power mode among them."""
    return run_tool(["pmset", "-g"], limit_s)


def read_displays(limit_s: float = LIMIT_S) -> str | ToolFailure:
    """JSON of the graphics part of System Information, for the screens attached."""
    return run_tool(["system_profiler", "-json", "SPDisplaysDataType"], limit_s)
