"""A model's architecture: what decides its size, its cache and what a token reads.

The same facts come from the catalogue (`resources/catalogue/models.jsonl`) or a build's header.
"""

from dataclasses import dataclass
from enum import StrEnum


class Attention(StrEnum):
    """What a layer keeps of the tokens before."""

    FULL = "full"
    """Keys and values of every token."""
    SLIDING = "sliding"
    """Keys and values of the last `window` tokens."""
    LATENT = "latent"
    """One compressed vector a token (multi-head latent attention, DeepSeek)."""
    RECURRENT = "recurrent"
    """A state of fixed size: Mamba, gated delta net, short convolution."""
    NONE = "none"
    """Nothing: a layer that has a feed-forward part only."""


@dataclass(frozen=True, slots=True)
class Recurrent:
    """The measures of a recurrent layer. None where the kind has no such measure."""

    kind: str
    """`mamba`, `mamba2`, `gated_delta_net`, `short_conv`, `rwkv`, `kimi_delta`, `lightning`."""
    conv_kernel: int | None = None
    inner_size: int | None = None
    state_size: int | None = None
    groups: int | None = None
    time_step_rank: int | None = None
    """Of Mamba 2 and gated delta nets the number of (value) heads."""
    head_size: int | None = None
    """Of RWKV, Kimi's delta attention and lightning attention: elements of a head."""
    shifts: int | None = None
    """Of RWKV: tokens shifted in a layer, 2 or (Qwen's) 1."""


@dataclass(frozen=True, slots=True)
class LayerGroup:
    """Equal layers of a model; the order of the layers is in `indices`."""

    layers: int
    attention: Attention
    indices: tuple[int, ...] = ()
    """Which layers of the model, from 0; empty where not told: then the groups stand in order."""
    heads: int | None = None
    kv_heads: int | None = None
    key_size: int | None = None
    """Elements of one head's key; of latent attention those of the uncompressed key."""
    value_size: int | None = None
    window: int | None = None
    """Tokens, of sliding attention."""
    latent_size: int | None = None
    """Elements of the compressed vector (`kv_lora_rank`); without the rotated part."""
    rope_size: int | None = None
    """Elements of a key that are rotated and kept beside the compressed vector."""
    query_latent_size: int | None = None
    """`q_lora_rank`; None where queries are not compressed."""
    indexer_size: int | None = None
    """Elements of the key that a sparse-attention indexer keeps of each token (DeepSeek 3.2)."""
    shares_cache: bool = False
    """Reads the cache of an earlier layer and has none of its own."""
    recurrent: Recurrent | None = None
    feed_forward: int | None = None
    """Width of the dense feed-forward part; None in layers of experts only, and where none is."""
    gated: bool = True
    """Whether the feed-forward parts have a gate beside up and down."""
    experts: int | None = None
    experts_used: int | None = None
    expert_feed_forward: int | None = None
    shared_feed_forward: int | None = None
    """Width of all shared experts together."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model's published facts. None where no source tells."""

    id: str
    """`llama-3.2-1b-instruct`; of a file without a row in the catalogue its declared name."""
    name: str
    architecture: str
    """GGUF's word: `llama`, `qwen3moe`."""
    parameters: int
    """All, embeddings counted once where they are tied."""
    hidden: int
    vocabulary: int
    groups: tuple[LayerGroup, ...]
    tied: bool
    """The embedding is also the output matrix."""
    active_parameters: int | None = None
    """As published, for mixtures of experts; None: all are."""
    context_trained: int | None = None
    native_precision: str | None = None
    """`bf16`, `mxfp4`."""
    per_layer_embedding: int | None = None
    """Width of the per-layer embedding lookup (Gemma 3n, Gemma 4 E): a table that is not read as a
    whole."""
    predict_layers: int = 0
    """Layers behind `groups` that predict further tokens (NextN, MTP). The engine counts them with
    the others when layers are offloaded, and loads them only when asked to."""
    family: str | None = None
    publisher: str | None = None
    released: str | None = None
    """`2024-09` or a full date."""
    license: str | None = None
    sources: tuple[str, ...] = ()
    """Addresses or codes of the table's README."""
    repositories: tuple[str, ...] = ()
    """Hugging Face repositories that hold GGUF builds of it."""
    aliases: tuple[str, ...] = ()
    """Other whole names that it is found by: `llama-3.2-1b`, its own repository."""
    extra_parameters: int | None = None
    """Published with it and not in `parameters`: vision and audio towers, layers that predict
    several tokens. They are in other files, or in none."""

    @property
    def layers(self) -> int:
        """Of all groups together."""
        return sum(group.layers for group in self.groups)

    @property
    def is_mixture(self) -> bool:
        """Whether a token reads a part of the weights only."""
        return any(group.experts for group in self.groups)


@dataclass(frozen=True, slots=True)
class Quant:
    """A way to store weights."""

    id: str
    """`q4_k_m`."""
    label: str
    """`Q4_K_M`, as people write it."""
    family: str
    """`gguf_kquant`, `gguf_iquant`, `gguf_legacy`, `bf16`, `fp16`, `fp8`, `awq`, `gptq`, `mxfp4`.
    """
    bits_per_weight: float
    """Of a whole model of about 8 billion parameters, scales counted."""
    quality: str
    """`excellent`, `good`, `acceptable`, `degraded`: stated in the table, never derived."""
    rank: int
    """Among all, 100 the best; stated in the table."""
    file_type: str | None = None
    """llama.cpp's name of the mix, `Q4_K_M`; None where it has no such format."""
    mixtures_only: bool = False
    """Made for the experts of mixtures: a dense model's tensors get another type under this name.
    """

    def suits(self, model: Model) -> bool:
        """Whether it is made for such a model; what is not is offered nowhere."""
        return model.is_mixture or not self.mixtures_only


class SizeBasis(StrEnum):
    """How bytes of weights are known, best first."""

    EXACT = "exact"
    """From the file: its size, or its header."""
    TENSORS = "tensors"
    """The model's tensors under llama.cpp's rule of which tensor gets which type."""
    BITS = "bits"
    """Parameters x bits per weight."""


class WeightUse(StrEnum):
    """What a tensor is for: what it is charged to, and on which side it lies."""

    EMBEDDING = "embedding"
    """The lookup of the input; lies in the host's memory, one row a token is read."""
    OUTPUT = "output"
    """The output matrix and its norm; the embedding itself where tied."""
    ATTENTION = "attention"
    RECURRENT = "recurrent"
    FEED_FORWARD = "feed_forward"
    EXPERTS = "experts"
    OTHER = "other"
    """Norms, routers, biases."""


@dataclass(frozen=True, slots=True)
class WeightPart:
    """The bytes of one use in one layer and one type."""

    use: WeightUse
    layer: int | None
    """None outside the layers."""
    type: str
    """ggml's name, `Q4_K`; the quant's label where the basis is bits."""
    bytes: int
    active_bytes: int
    """Read for one generated token, on average over tokens."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A model's weights in one quantization."""

    quant: str
    basis: SizeBasis
    parts: tuple[WeightPart, ...]

    @property
    def capacity_bytes(self) -> int:
        """All of them: what memory must hold."""
        return sum(part.bytes for part in self.parts)

    @property
    def active_bytes(self) -> int:
        """Read for each generated token: the embedding lookup is not, unused experts are not."""
        return sum(part.active_bytes for part in self.parts)
