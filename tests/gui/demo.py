"""A fake of the services and made-up events, for tests and for looking at the design."""

import math
from pathlib import Path

from desktop.errors import Reason
from desktop.records.build import Build
from desktop.records.energy import Energy, MeterFacts, MeterKind, PowerSample, Scope, Source
from desktop.records.events import (
    AppEvent,
    BuildKnown,
    Devices,
    MachineKnown,
    Phase,
    Power,
    Progress,
    RepetitionDone,
    ResultsKnown,
    RunFinished,
)
from desktop.records.machine import Conditions, Cpu, Device, DeviceKind, Machine, PowerSupply
from desktop.records.request import Curves, ResultRow, RunRequest
from desktop.records.run import EngineFacts, MemoryHeld, Note, Plan, Rate, Repetition, Run
from desktop.ui.bridge import Bridge

KEY_ID = "5f" * 29 + "acbe75"
STATEMENT_ID = "9c41" * 16
METER = MeterFacts("CPU load", Source.MODELLED, MeterKind.INSTANTANEOUS, Scope.PACKAGE)
SENSOR = MeterFacts("NVML", Source.SENSOR, MeterKind.COUNTER, Scope.BOARD)
BUILD = Build(
    name="SmolLM2-135M-Instruct.Q4_1",
    sha256="b1" * 32,
    size_bytes=98_362_432,
    architecture="llama",
    model_name="SmolLM2 135M Instruct",
    quantization="Q4_1",
    parameters=134_515_008,
    context_trained=8192,
)
MACHINE = Machine(
    os="Linux",
    os_version="Debian 12",
    architecture="x86_64",
    cpu=Cpu("Intel(R) Xeon(R) Processor @ 2.70GHz", 2, 4),
    ram_bytes=8_336_000_000,
    virtual="kvm",
)
ENGINE = Devices(
    "llama.cpp",
    "b5123",
    (
        Device("Vulkan0", "llvmpipe", DeviceKind.SOFTWARE, "Vulkan"),
        Device("CPU", "Intel Xeon", DeviceKind.CPU, "CPU"),
    ),
)
CONDITIONS = Conditions(PowerSupply.MAINS, None, None, None, 3.0, 6_000_000_000)


class FakeServices:
    """Records what is asked of it; a test sends the events."""

    def __init__(self, bridge: Bridge) -> None:
        self.bridge = bridge
        self.requests: list[RunRequest] = []
        self.asked: list[str] = []
        self.shown = Curves()
        self.pulled = 0

    def start(self, request: RunRequest) -> None:
        self.requests.append(request)
        self.asked.append("start")

    def stop(self) -> None:
        self.asked.append("stop")

    @property
    def running(self) -> bool:
        return self.asked.count("start") > self.asked.count("stop")

    def curves(self) -> Curves:
        self.pulled += 1
        return self.shown

    def refresh_machine(self) -> None:
        self.asked.append("machine")

    def refresh_results(self) -> None:
        self.asked.append("results")

    def post(self, *events: AppEvent) -> None:
        for event in events:
            self.bridge.post(event)


def repetition(test: str, n: int, rate_tok_s: float, *, warmup: bool = False) -> Repetition:
    return Repetition(test, warmup, 0, round(n * 1e9 / rate_tok_s), n)


def run(*, notes: tuple[Note, ...] = (Note.MODELLED_ENERGY,), meter: MeterFacts = METER) -> Run:
    cpu = Device("CPU", "Intel Xeon", DeviceKind.CPU, "CPU")
    repetitions = (
        repetition("pp512", 512, 310.0, warmup=True),
        *(repetition("pp512", 512, 312.0) for _ in range(6)),
        repetition("tg128", 128, 40.0, warmup=True),
        *(repetition("tg128", 128, 48.3) for _ in range(12)),
    )
    return Run(
        build=BUILD,
        machine=MACHINE,
        engine=EngineFacts("llama.cpp", "b5123", "CPU", (cpu,), 2, "on", 0),
        plan=Plan(threads=2),
        repetitions=repetitions,
        rates=(Rate("pp512", 312.2, 0.0093, 318.6, 6), Rate("tg128", 48.31, 0.0121, 49.9, 12)),
        memory=MemoryHeld(98_000_000, 23_592_960, 31_457_280, 342_000_000),
        energy=(("tg128", Energy(1093.6, 1.0, 18.0, meter)),),
        before=CONDITIONS,
        after=CONDITIONS,
        started_at="2025-03-14T09:26:53Z",
        notes=notes,
    )


def finished(*, signed: bool = True) -> RunFinished:
    return RunFinished(run(), STATEMENT_ID if signed else None, KEY_ID if signed else None)


def machine_known() -> MachineKnown:
    return MachineKnown(MACHINE, "Linux, CPU only · 4 CPUs", METER, ENGINE)


def progress(fraction: float = 0.4) -> Progress:
    return Progress(Phase.MEASURING, "tg128", fraction, 42.0)


def curves(seconds: float = 46.0) -> Curves:
    """As a run gives them: prompts first, then one token after the other, power throughout."""
    wave = [
        2.7 * math.sin(i / 9) + 1.3 * math.sin(i * 1.7) + 0.9 * math.sin(i * 0.31)
        for i in range(20_000)
    ]
    prompt = tuple((1.5 + 1.64 * i, 312.0 + 3 * wave[i]) for i in range(8))
    begin = 15.0
    generation = tuple(
        (begin + i / 48.3, 48.3 + wave[i]) for i in range(int(max(0.0, seconds - begin) * 48.3))
    )
    power = tuple((i / 2, 27.0 + wave[i * 3] * 0.6) for i in range(int(seconds * 2)))
    return Curves(generation, prompt, power)


def during() -> tuple[AppEvent, ...]:
    return (
        BuildKnown(BUILD),
        Power(PowerSample(0, 27.0), METER),
        RepetitionDone(repetition("pp512", 512, 312.0), Rate("pp512", 312.2, 0.0093, 318.6, 6)),
        RepetitionDone(repetition("tg128", 128, 48.0), Rate("tg128", 48.2, 0.021, 49.9, 9)),
        progress(0.62),
    )


def rows(count: int = 7) -> ResultsKnown:
    names = (
        "SmolLM2-135M-Instruct.Q4_1",
        "hf.co/ggml-org/gemma-3-1b-it-GGUF:Q4_K_M",
        "synthetic-0.5B.Q4_0",
    )
    return ResultsKnown(
        tuple(
            ResultRow(
                id=f"{i:02x}" * 32,
                key_id=KEY_ID,
                at=f"2025-03-{20 - i:02d}T09:26:53Z",
                build=names[i % 3],
                synthetic=i % 3 == 2,
                engine="llama.cpp b5123, CPU",
                prompt_tok_s=312.2 / (1 + i % 3 * 3),
                prompt_spread=0.0093,
                generation_tok_s=48.31 / (1 + i % 3 * 3),
                generation_spread=None if i == 4 else 0.0121,
                energy_per_token_j=None if i == 5 else 0.712 * (1 + i % 3),
                energy_source=None if i == 5 else "modelled (CPU load)",
            )
            for i in range(count)
        )
    )


def no_keychain() -> Reason:
    return Reason("no_keychain", {"detail": "no backend"})


def gguf_path() -> Path:
    return Path("some folder") / "größe 模型.gguf"
