"""Estimates: never a measurement, always a range with its ceiling, tier and reasons."""

from dataclasses import dataclass, field
from enum import StrEnum

from desktop.errors import Reason


class Tier(StrEnum):
    """How sure an estimate is, best first."""

    A = "A"
    """Calibrated on this machine by its signed runs."""
    B = "B"
    """From this machine's own measured parts; or rehearsed here."""
    C = "C"
    """From the catalogue's interval for the device's class and backend."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure that is known to lie between two values."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Use:
    """How a build is run. The defaults are llama.cpp's and a run's."""

    context: int
    """Tokens that the cache holds room for; stated beside every number."""
    depth: int = 0
    """Tokens that are in the cache while a token is generated; ≤ `context`."""
    cache_key_type: str = "F16"
    cache_value_type: str = "F16"
    batch: int = 2048
    micro_batch: int = 512
    sequences: int = 1
    flash_attention: bool = True
    full_sliding_cache: bool = False
    """llama.cpp's `swa_full`: sliding layers keep the whole context."""

    @property
    def prompt_tokens(self) -> int:
        """Of the prompt whose first token is told: all that is in the cache, one at least."""
        return max(1, self.depth)


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """Bytes that one device, or the host, has to hold; by what they are for."""

    weights_bytes: int
    cache_bytes: int
    """Keys, values and recurrent state."""
    compute_bytes: int
    """Scratch of the graph."""
    output_bytes: int = 0
    """Logits and embeddings of a micro-batch: host memory."""
    extra_bytes: int = 0
    """Projector and draft model, where asked for."""

    @property
    def total_bytes(self) -> int:
        """All of them."""
        return (
            self.weights_bytes + self.cache_bytes + self.compute_bytes
            + self.output_bytes + self.extra_bytes
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Efficiency:
    """What a back end reaches on a class of devices: data with a source, not code.

    A token takes active bytes ÷ (share x bandwidth) + cache bytes ÷ (share x bandwidth)
    + weights x weight_flop ÷ shaders' rate + attention ÷ (attention share x shaders' rate)
    + layers x layer_s + token_s.
    """

    bandwidth_share: Interval
    layer_s: Interval
    token_s: Interval
    compute_share: Interval | None = None
    """Of the shaders' rate (`Configuration.shader_flops`), in prompt processing: above 1 where
    matrix units compute. None: not known."""
    source: str = ""
    attention_share: Interval | None = None
    """Of the shaders' rate, in the attention of a generated token. None: it costs nothing besides
    reading the cache."""
    weight_flop: Interval | None = None
    """Operations of the shaders for each weight of a token: unpacking and products that are not
    hidden behind reading. None: all are."""
    extra_layer_s: tuple[tuple[str, Interval], ...] = ()
    """What a layer costs besides `layer_s`, by kind: `experts`, `state` (recurrent), `latent`
    (multi-head latent attention). A kind that is not there costs nothing besides."""
    flop_per_byte: float | None = None
    """The shaders' rate ÷ the bandwidth of a usual device of the class, where its own rate is not
    known."""
    regime_bytes: Interval | None = None
    """Active bytes of weights that the shares were stated for; beyond, they are extrapolated and
    the estimate says so. None: any."""


@dataclass(frozen=True, slots=True)
class Target:
    """One back end on one class of devices."""

    id: str
    """`llama-cpp-cuda`."""
    engine: str
    backend: str
    """`CUDA`, `Vulkan`, `ROCm`, `Metal`, `CPU`."""
    device_class: str
    """A code of `resources/estimate/README.md`, for example `nvidia-ada`."""
    efficiencies: tuple[tuple[str, Efficiency], ...]
    """By quant family; a family that is not there is not supported."""
    overhead_bytes: int
    """Held by the back end itself on each device."""
    measured_devices: int | None = None
    """Devices of the class that its intervals were fitted to; 0: devices of other classes only.
    None: not told."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a person can have: a device with a certain memory, one or several."""

    id: str
    """`geforce-rtx-3090-24gb`: exact, never a substring."""
    name: str
    vendor: str
    device_class: str
    memory_bytes: int
    usable_bytes: int
    """What the backend that will run can use."""
    bandwidth_bytes_s: float | None
    fp16_flops: float | None
    power_w: float | None = None
    price_usd: float | None = None
    year: int | None = None
    bf16: bool = False
    """Whether it computes bf16 in hardware; without, bf16 is not offered."""
    count: int = 1
    source: str = ""
    gpu_cores: int | None = None
    """Apple only."""
    shader_flops: float | None = None
    """Published fp32 rate of the shaders, without matrix units."""
    shared_memory: bool = False
    """Its memory is the system's: of chips, and of machines without a card."""
    aliases: tuple[str, ...] = ()
    """Other whole names that it is found by: `NVIDIA GeForce RTX 3090`, where no other has it."""
    held_back_bytes: int = 0
    """Of its memory, for the driver and a display: not among `usable_bytes`."""


@dataclass(frozen=True, slots=True)
class Speed:
    """An estimated rate."""

    low_tok_s: float
    high_tok_s: float
    ceiling_tok_s: float
    """Bandwidth ÷ bytes that a token reads, at the same context."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a build would do on a device; or why there is no answer."""

    model: str
    quant: str
    configuration: str
    target: str | None
    use: Use
    need: MemoryNeed | None = None
    decode: Speed | None = None
    """Generated tokens a second at `use.depth`."""
    prompt: Speed | None = None
    """Prompt tokens a second of a prompt of 512 from an empty cache: llama-bench's pp512."""
    first_token_s: Interval | None = None
    """From the request to the first generated token, for a prompt of `use.prompt_tokens`."""
    tier: Tier | None = None
    """None where there is no estimate."""
    reasons: tuple[Reason, ...] = field(default=())
    """Why the range is as wide as it is, or why there is none: codes of `errors.CATALOGUE`, as
    errors have; the entries for estimates begin with `estimate_`."""
