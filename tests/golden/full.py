"""A run and a machine's parts in which every key of their schemas is set; their bytes lie beside.

Real-shaped, made up: no machine told them.
"""

from pathlib import Path

from desktop.records.build import Build
from desktop.records.energy import Energy, MeterFacts, MeterKind, Scope, Source
from desktop.records.machine import (
    Accelerator,
    Conditions,
    Cpu,
    Device,
    DeviceKind,
    Machine,
    MemoryModules,
    PowerSupply,
    Search,
    Thermal,
)
from desktop.records.parts import Part, Parts, PartSkip, PartsPlan, PartTest, Skipped
from desktop.records.run import EngineFacts, MemoryHeld, Note, Plan, Repetition, Run, SpeedTest
from desktop.rules.rates import rate_of

HERE = Path(__file__).parent
NONCE = "golden-nonce-0123456789"
AT, SIGNED_AT = "2026-09-10T11:12:13Z", "2026-09-10T11:13:14Z"
GIB = 2**30

MACHINE = Machine(
    os="Windows",
    os_version="11 (build 26100)",
    architecture="x86_64",
    cpu=Cpu("AMD Ryzen AI 9 HX 370 w/ Radeon 890M", 12, 24, 1, 20, ("avx2", "avx512f")),
    ram_bytes=24 * GIB,
    accelerators=(
        Accelerator("NVIDIA", "NVIDIA GeForce RTX 3080", 10 * GIB, integrated=False, external=True),
        Accelerator("Apple", "Apple M4 Max", 96 * GIB, integrated=True, gpu_cores=40),
    ),
    virtual="Hyper-V",
    modules=MemoryModules("LPDDR5X", 7500, 8, 4),
    unknown=(Search.CARDS,),
)
CUDA = Device("CUDA0", "NVIDIA GeForce RTX 3080", DeviceKind.GPU, "CUDA", 10 * GIB)
CPU = Device("CPU", "AMD Ryzen AI 9 HX 370", DeviceKind.CPU, "CPU", 24 * GIB)
STATE = Conditions(
    power_supply=PowerSupply.BATTERY,
    battery_percent=81.5,
    governor="balanced, best performance",
    temperature_c=54.25,
    other_load_percent=2.5,
    memory_available_bytes=17_179_869_184,
    thermal=Thermal.THROTTLED,
    display_attached=True,
)
METER = MeterFacts("NVML", Source.SENSOR, MeterKind.COUNTER, Scope.BOARD)
REPETITIONS = (
    Repetition("pp512", True, 0, 900_000_000, 512),
    Repetition("pp512", False, 1_000_000_000, 1_800_000_000, 512),
    Repetition("tg4", False, 2_000_000_000, 2_100_000_000, 4, (25_000_000,) * 4),
)


def full_run() -> Run:
    """Every key of `resources/schemas/run.v1.json`."""
    rates = (rate_of(test, REPETITIONS) for test in ("pp512", "tg4"))
    return Run(
        build=Build(
            name="hf.co/ggml-org/gemma-3-1b-it-GGUF:Q4_K_M",
            sha256="0123456789abcdef" * 4,
            size_bytes=806_058_240,
            architecture="gemma3",
            model_name="Gemma 3 1B",
            quantization="Q4_K_M",
            parameters=999_885_952,
            context_trained=32_768,
            synthetic=False,
            files=3,
        ),
        machine=MACHINE,
        engine=EngineFacts("llama.cpp", "0.5.0", "CUDA", (CUDA, CPU), 12, "on", 99),
        plan=Plan((SpeedTest(512, 0), SpeedTest(0, 4)), threads=12, devices=("CUDA0",)),
        repetitions=REPETITIONS,
        rates=tuple(rate for rate in rates if rate is not None),
        memory=MemoryHeld(800_000_000, 22_000_000, 33_000_000, 1_900_000_000),
        energy=(("tg4", Energy(8.5, 0.99, 21.5, METER)),),
        before=STATE,
        after=STATE,
        started_at=AT,
        notes=(Note.ON_BATTERY,),
    )


def full_parts() -> Parts:
    """Every key of `resources/schemas/parts.v1.json`."""
    return Parts(
        machine=MACHINE,
        engine="llama.cpp",
        engine_version="0.5.0",
        devices=(CUDA, CPU),
        plan=PartsPlan(12, 6, 40, 0.025, 50.0, last_level_cache_bytes=33_554_432),
        parts=(
            Part(
                "CPU", PartTest.MATVEC_Q4_0, 12, 9_437_184, (400_000, 410_000), (4096, 1, 4096, 1)
            ),
            Part("CUDA0", PartTest.COPY, None, 8_000, (7_000,), (1_000,)),
        ),
        before=STATE,
        after=STATE,
        started_at=AT,
        skipped=(
            PartSkip("CUDA0", PartTest.MATMUL_F16, None, Skipped.MEMORY),
            PartSkip("CPU", PartTest.COPY, 1, Skipped.TIME),
        ),
    )
