"""A fake of the services and made-up events, for tests and for looking at the design."""

import math
from collections.abc import Sequence
from pathlib import Path

from desktop.errors import Reason
from desktop.records.build import Build
from desktop.records.cost import (
    Carbon,
    Costs,
    GridBasis,
    HourlyRate,
    Price,
    RateBasis,
    RateCard,
)
from desktop.records.energy import Energy, MeterFacts, MeterKind, PowerSample, Scope, Source
from desktop.records.events import (
    AppEvent,
    BuildKnown,
    CostsKnown,
    Devices,
    MachineKnown,
    PartDone,
    PartMissed,
    PartsFinished,
    PartsKnown,
    PartStep,
    Phase,
    Power,
    Progress,
    RepetitionDone,
    ResultsKnown,
    RunFinished,
)
from desktop.records.fits import FitsRequest
from desktop.records.machine import (
    Accelerator,
    Conditions,
    Cpu,
    Device,
    DeviceKind,
    Machine,
    MemoryModules,
    PowerSupply,
    Thermal,
)
from desktop.records.parts import (
    PartRate,
    Parts,
    PartSkip,
    PartsPlan,
    PartsRequest,
    PartTest,
    Skipped,
)
from desktop.records.rehearsal import RehearsalRequest
from desktop.records.request import Curves, ResultRow, RunRequest
from desktop.records.run import EngineFacts, MemoryHeld, Note, Plan, Rate, Repetition, Run
from desktop.services.estimate_events import WindowEvent
from desktop.ui.bridge import Bridge
from tests.gui.fake_builds import FakeBuilds

KEY_ID = "5f" * 29 + "acbe75"
STATEMENT_ID = "9c41" * 16
FORMULA = Reason(
    "modelled_logical",
    {
        "idle_w": "3.0",
        "full_w": "14.0",
        "idle_core_w": "0.74",
        "full_core_w": "3.5",
        "cores": 4,
        "row": "server",
        "source": "Cloud Carbon Footprint",
    },
)
GUEST = Reason("modelled_guest", {"cores": 4})
METER = MeterFacts(
    "CPU load", Source.MODELLED, MeterKind.AVERAGE, Scope.SYSTEM, "", (FORMULA, GUEST)
)
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
STUCK = Reason("source_stuck", {"name": "NVML (NVIDIA's driver)"})
CONDITIONS = Conditions(PowerSupply.MAINS, None, None, None, 3.0, 6_000_000_000)


class FakeServices(FakeBuilds):
    """Records what is asked of it; a test sends the events."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__()
        self.bridge = bridge
        self.requests: list[RunRequest] = []
        self.parts_requests: list[PartsRequest] = []
        self.rehearsals: list[RehearsalRequest] = []
        self.fits: list[tuple[FitsRequest, ...]] = []
        self.pages: list[tuple[object, ...]] = []
        self.asked: list[str] = []
        self.shown = Curves()
        self.pulled = 0

    def start(self, request: RunRequest) -> None:
        self.requests.append(request)
        self.asked.append("start")

    def start_parts(self, request: PartsRequest) -> None:
        self.parts_requests.append(request)
        self.asked.append("start")

    def start_rehearsal(self, request: RehearsalRequest) -> None:
        self.rehearsals.append(request)
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

    def refresh_parts(self) -> None:
        self.asked.append("parts")

    def refresh_costs(self, run: Run) -> None:
        self.asked.append("costs")

    def refresh_results(self) -> None:
        self.asked.append("results")

    def refresh_fits(self, requests: Sequence[FitsRequest]) -> None:
        self.fits.append(tuple(requests))

    def open_model(self, model_id: str, position: int) -> None:
        self.pages.append(("model", model_id, position))

    def open_device(
        self, model_id: str, device_id: str, position: int, quant_id: str | None
    ) -> None:
        self.pages.append(("device", model_id, device_id, position, quant_id))

    def open_here(self, model_id: str, position: int) -> None:
        self.pages.append(("here", model_id, position))

    def post(self, *events: WindowEvent) -> None:
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


def costs_known() -> CostsKnown:
    """A price by the default rate card, and carbon by the world's average."""
    card = RateCard(1599.0, "NVIDIA RTX 4090", 0.1217, 310.0, "sensor (NVML)", 0.16, 0.0496)
    price = Price(0.985, HourlyRate(0.1713, RateBasis.RATE_CARD_DEFAULT, card))
    carbon = Carbon(93.5, 473.0, 2024, "World", GridBasis.WORLD, "Ember, CC BY 4.0", None)
    return CostsKnown(Costs(price, None, carbon, None, METER))


def machine_known() -> MachineKnown:
    return MachineKnown(MACHINE, "Linux, CPU only · 4 CPUs", METER, ENGINE)


def laptop() -> MachineKnown:
    """A hybrid laptop with all that can be told of one."""
    gib = 2**30
    machine = Machine(
        os="Linux",
        os_version="Fedora Linux 42, kernel 6.14.2",
        architecture="x86_64",
        cpu=Cpu("AMD Ryzen AI 9 HX 370 w/ Radeon 890M", 12, 24, 1, 24, ("avx2", "avx512f")),
        ram_bytes=31 * gib,
        accelerators=(
            Accelerator(
                "NVIDIA",
                "NVIDIA GeForce RTX 4060 Laptop GPU",
                8 * gib,
                integrated=False,
                pci_address="0000:64:00.0",
                driver="570.133.07",
                dedicated_bytes=8 * gib,
                backends=("CUDA",),
            ),
            Accelerator(
                "AMD",
                "AMD Radeon 890M Graphics",
                16 * gib,
                integrated=True,
                pci_address="0000:65:00.0",
                driver="amdgpu",
                dedicated_bytes=gib // 2,
                shared_bytes=31 * gib // 2,
            ),
        ),
        modules=MemoryModules("LPDDR5X", 7500, None, 4),
    )
    state = Conditions(
        PowerSupply.BATTERY, 83.0, "powersave", 54.0, None, None, Thermal.NOMINAL, True
    )
    kind = "NVIDIA GeForce RTX 4060 Laptop GPU"
    return MachineKnown(machine, kind, SENSOR, ENGINE, state, (STUCK,))


def part_rates() -> tuple[PartRate, ...]:
    """Of a card and of the processor, with 1 and with all threads."""
    card = (
        PartRate("CUDA0", PartTest.MATMUL_F16, None, 52.7e12, 0.004, 12),
        PartRate("CUDA0", PartTest.MATVEC_F16, None, 231.4e9, 0.006, 9),
        PartRate("CUDA0", PartTest.MATVEC_Q4_K, None, 204.0e9, 0.008, 9),
        PartRate("CUDA0", PartTest.COPY, None, 219.0e9, 0.002, 9),
        PartRate("CUDA0", PartTest.SMALL_GRAPH, None, 11.2e-6, 0.02, 40),
    )
    processor = (
        PartRate("CPU", PartTest.MATMUL_F16, 1, 0.0912e12, 0.011, 8),
        PartRate("CPU", PartTest.MATVEC_F16, 1, 21.9e9, 0.015, 8),
        PartRate("CPU", PartTest.MATMUL_F16, 12, 0.792e12, 0.031, 5),
        PartRate("CPU", PartTest.MATVEC_F16, 12, 64.0e9, None, 5),
    )
    return card + processor


PART_DEVICES = (
    Device("CUDA0", "Tesla T4", DeviceKind.GPU, "CUDA"),
    Device("Vulkan0", "llvmpipe (LLVM 15.0.7, 256 bits)", DeviceKind.SOFTWARE, "Vulkan"),
    Device("CPU", "AMD EPYC 7B12", DeviceKind.CPU, "CPU"),
)
SKIPPED = (
    PartSkip("CUDA0", PartTest.MATVEC_Q8_0, None, Skipped.MEMORY),
    PartSkip("CUDA0", PartTest.MATVEC_Q6_K, None, Skipped.MEMORY),
    PartSkip("CUDA0", PartTest.MATVEC_Q4_0, None, Skipped.UNSUPPORTED),
    *(PartSkip("Vulkan0", test, None, Skipped.CRASHED) for test in PartTest),
)


def parts_known() -> PartsKnown:
    return PartsKnown(part_rates(), "2025-03-14T09:26:53Z", KEY_ID, SKIPPED, PART_DEVICES)


def parts_finished(*, signed: bool = True) -> PartsFinished:
    parts = Parts(
        machine=MACHINE,
        engine="llama.cpp",
        engine_version="b5123",
        devices=PART_DEVICES,
        plan=PartsPlan(threads=12),
        parts=(),
        before=CONDITIONS,
        after=CONDITIONS,
        started_at="2025-03-14T09:26:53Z",
        skipped=SKIPPED,
    )
    ids = (STATEMENT_ID, KEY_ID) if signed else (None, None)
    return PartsFinished(parts, part_rates(), *ids)


def some_parts() -> tuple[PartDone, ...]:
    return tuple(PartDone(rate, (i + 1) / 9) for i, rate in enumerate(part_rates()[:4]))


def parts_begin() -> tuple[AppEvent, ...]:
    """The first steps of measuring the parts, until a test runs."""
    return (
        Progress(Phase.PREPARING, None, 0.0, None),
        Progress(Phase.LOADING, None, 0.0, None),
        Devices("llama.cpp", "b5123", PART_DEVICES),
        Progress(
            Phase.MEASURING,
            "CUDA0 matmul_f16",
            0.2,
            33.0,
            PartStep("CUDA0", PartTest.MATMUL_F16, None, 3, 19),
        ),
    )


def part_missed() -> PartMissed:
    return PartMissed(SKIPPED[0], 0.5)


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
        Power(PowerSample(0, 27.0), METER, 2_000_000_000),
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
