"""The sentences of a model's page, in English; the window translates the same templates.

`{name}` is replaced by the parameter of that name. Reasons have their sentences in `errors`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from desktop.errors import Param

NONE: Final[Mapping[str, Param]] = MappingProxyType({})

WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        # the head
        "head.title": "What runs {model}",
        "head.line": "Model · {architecture} · released {released}",
        "head.capacity": "Memory is counted over all {total} parameters.",
        "head.traffic": "What a token reads is counted over its {active} active parameters.",
        "head.page": "By the constants of an existing network's published page, not by Gram's own.",
        "head.position": "Every rate is an estimate: one token after {position} others, batch 1, "
        "one stream.",
        "head.position.one": "Every rate is an estimate: one token after one other, batch 1, one "
        "stream.",
        "head.room": "Memory is counted with room for {room} tokens.",
        "head.room.one": "Memory is counted with room for one token.",
        "head.room.fits": "gram fits counts 4,096 where no --context is given.",
        # facts
        "facts.heading": "Architecture, from the sources named below",
        "facts.note": "All parameters count for memory, active ones for what a token reads.",
        "facts.architecture": "Architecture",
        "facts.total": "Parameters in all",
        "facts.active": "Active for a token",
        "facts.attention": "Attention",
        "facts.layers": "Layers",
        "facts.vocabulary": "Vocabulary",
        "facts.tied": "Tied embeddings",
        "facts.context": "Greatest context",
        "facts.precision": "Native precision",
        "facts.family": "Family",
        "facts.publisher": "Publisher",
        "facts.released": "Released",
        "facts.license": "License",
        "facts.dense": "Dense",
        "facts.mixture": "Mixture of experts",
        "facts.tokens": "{count} tokens",
        "facts.yes": "Yes",
        "facts.no": "No",
        "facts.unknown": "not known",
        # layer groups
        "group.full": "{layers} layers · heads {heads}, KV heads {kv_heads}, head size {size}, "
        "full attention",
        "group.sliding": "{layers} layers · heads {heads}, KV heads {kv_heads}, head size {size}, "
        "sliding attention over {window} tokens",
        "group.latent": "{layers} layers · heads {heads}, latent attention, {latent} + {rope} "
        "elements kept for a token",
        "group.recurrent": "{layers} layers · recurrent ({kind}), a state of fixed size",
        "group.none": "{layers} layers · no attention",
        "group.also.recurrent": "a recurrent part beside it ({kind})",
        "group.also.shares": "with the cache of an earlier layer",
        "group.also.experts": "{used} of {experts} experts for a token",
        # sizes
        "sizes.heading": "Size in each quantization",
        "sizes.note.basis": "The size of a published file goes before one computed from the "
        "tensors, and that before bits per weight: the last column says which it is.",
        "sizes.note.quality": "Quality is stated in the table of quantizations; it is not derived "
        "from bits.",
        "sizes.note.here": "bits are the table's; here: the bits of this model's weights, where "
        "they differ.",
        "sizes.note.mixtures": "Of MXFP4 only experts are, the rest is Q8_0: it is offered for "
        "mixtures of experts alone.",
        "device.note.needs": "Where a card needs less than the weights, the embedding lies in the "
        "host's memory: a token looks up one row of it.",
        "basis.exact": "exact",
        "basis.tensors": "computed (tensors)",
        "basis.bits": "computed (bits)",
        # ranked devices
        "ranked.heading": "Devices by how fast they generate",
        "ranked.label": "Estimated ranges: nothing here is measured.",
        "ranked.note.band": "A range goes from the low to the high end of what the back end is "
        "known to reach on such devices.",
        "ranked.note.choice": "The quantization is the best in quality that fits, with keys and "
        "values in fp16.",
        "ranked.note.context": "The column behind it asks the same with the model's whole context "
        "of {context} tokens, whose cache is far larger.",
        "ranked.note.held_back": "Of a card's memory {share} %, at least {least}, are held back "
        "for the driver and a display: assumed. What leaves less than {tight} % of the rest free "
        "is called tight.",
        "ranked.note.order": "The fastest by the high end stands first; ties go by memory needed, "
        "then price, then id.",
        "ranked.note.open": "Every device has a page of its own: gram estimate MODEL --device ID.",
        "ranked.none": "No device of the table runs it.",
        # reasons
        "reasons.heading": "What the reasons mean",
        "reasons.note": "A tier and its reasons hold for one operation on one device under one "
        "back end.",
        "tier.a": "Tier A: calibrated on this machine by its signed runs.",
        "tier.b": "Tier B: from this machine's own measured parts.",
        "tier.b.page": "Tier B: the word of the page that this profile reproduces, for all of its "
        "estimates.",
        "tier.c": "Tier C: from what is known of the device's class and back end.",
        # where to start
        "start.heading": "Where to start",
        "start.note": "A device is named by price only where its price has a source.",
        "start.smallest": "The smallest that runs {model}: {device}, with {usable} of usable "
        "memory. There it takes {quant}, whose quality is {quality}.",
        "start.how": "By {target}, at a depth of {position}.",
        "start.takes": "There it takes {quant}, whose quality is {quality}.",
        "start.decent": "Only quantizations of quality acceptable or better count here.",
        "start.hint": "For another quantization or context: --quant Q, --context N.",
        "start.no_smallest": "No device of the table runs {model}.",
        "start.cheapest": "The cheapest whose whole range clears {rate} tokens a second: {device}, "
        "{price}.",
        "start.no_cheapest": "No device with a price clears {rate} tokens a second over its whole "
        "range.",
        # devices without a result
        "none.heading": "Not estimated: devices without a result",
        "none.note.reason": "A reason stands where a number would.",
        "none.note.slow": "It does not mean that the device is slow.",
        "none.note.quant": "A quantization that is named is the preferred one; the others were "
        "tried too.",
        # a device's own page
        "device.title": "{model} on {device}",
        "device.held_back": "{held} held back for the driver and a display: assumed",
        "device.quants": "Each quantization on it",
        "device.layers": "Bytes by layer group, {quant}",
        "device.arithmetic": "The arithmetic, {quant}",
        "bytes.whole": "The whole model (not known by layer)",
        "bytes.embedding": "Embedding: a lookup of one row",
        "bytes.output": "Output",
        "bytes.attention": "Attention, outside the layers",
        "bytes.recurrent": "Recurrent parts, outside the layers",
        "bytes.feed_forward": "Feed-forward, outside the layers",
        "bytes.experts": "Experts, outside the layers",
        "bytes.other": "Norms and the rest",
        "written.type": "Weights in {type}",
        "written.weights": "All weights",
        "written.unread.embedding": "Rows of the embedding that a token does not look up",
        "written.unread.experts": "Experts that a token does not use",
        "written.unread.other": "Rows of other tables that a token does not look up",
        "written.read": "Weights that a token reads",
        "written.group": "Cache that a token reads",
        "written.cache": "All cache that a token reads",
        "written.there.less": "Weights on the device, without the embedding, which lies in the "
        "host's memory",
        "written.there.more": "Weights in memory, where the embedding that is also the output lies "
        "twice",
        "written.there.cache": "Cache that is set aside: {cells} cells for a context of {room}, in "
        "steps of {step} as llama.cpp does it; sliding layers have their window's and a batch's",
        "written.need": "Memory needed",
        "written.need.weights": "weights",
        "written.need.cache": "cache",
        "written.need.scratch": "scratch of the graph of a micro-batch of {tokens}, llama.cpp's "
        "largest",
        "written.need.output": "logits",
        "written.need.extra": "what runs beside it",
        "written.need.target": "the back end's own (by the table of {target}: what such contexts "
        "usually take, not measured)",
        "written.need.told": "The same",
        "written.usable": "Memory that can be used: without what the driver and a display take, "
        "assumed to be {held}",
        "written.time.read": "Reading weights and cache",
        "written.time.unpack": "Unpacking the weights",
        "written.time.attention": "Attention over the cache",
        "written.time.fixed": "Fixed times of layers and of the token",
        # the arithmetic of this machine
        "written.on": "on {device}",
        "written.there.unread": "Weights in memory, without the embedding of each layer, which is "
        "read row by row from the file",
        "written.here.cards": "Of it on the cards: without what lies in the system's memory",
        "written.here.cards.own": "Of it on the cards: without what lies in the system's memory, "
        "with what the back end holds there for itself",
        "written.here.room": "Memory of the cards, less what driver and display hold",
        "written.here.system": "Of the system's memory a build may take {share} %, less what the "
        "engine's own process takes",
        "written.here.type": "Reading weights in {type}, measured at {rate}, ± {sd} %",
        "written.here.near": "Reading weights in {type}, at {rate}, ± {sd} %: not measured, taken "
        "from {near}",
        "written.here.beside": "{more} % longer than the parts, which do nothing in between",
        "written.here.cache": "Reading the cache, {times} times as long as weights in F16 at "
        "{rate}, ± {sd} %: its pieces are small",
        "written.here.saved": "Saved, as caches still hold a part of the weights: assumed, "
        "± {sd} %",
        "written.here.layers": "Fixed times of the layers, ± {sd} %",
        "written.here.token": "Fixed time of the token, ± {sd} %",
        "written.here.whole": "All of it",
        "written.here.runs": "Likeliest, by {runs} own runs of {builds} builds",
        "written.here.longest": "The longest likely time: {share} of 100 times are expected "
        "between it and the next, by the ± above (standard deviations), {common} % that all of a "
        "machine's times share, and what its own runs leave of them",
        "written.here.shortest": "The shortest likely time",
        "written.here.low": "Low end: the ceiling, as the times alone would lead to {rate} tok/s",
        "written.here.high": "High end: the ceiling, as the times alone would lead to {rate} tok/s",
        "written.low": "Low end",
        "written.high": "High end",
        "written.ceiling": "Ceiling",
        # sources and other models
        "sources.heading": "Primary sources",
        "sources.note": "Parameters and architecture come from the model's publisher; codes are "
        "those of the catalogue's README.",
        "sources.record": "Record of the model",
        "related.heading": "Other models",
        "related.note": "Those of the catalogue that are nearest; each has a page like this one.",
    }
)


class Said(NamedTuple):
    """A code of `WORDS` with its parameters."""

    code: str
    params: Mapping[str, Param] = NONE

    def text(self) -> str:
        """The English sentence.

        Raises:
            KeyError: a code or a parameter is not there: a fault of ours.
        """
        return WORDS[self.code].format_map(dict(self.params))


def position_said(depth: int) -> Said:
    """What every rate of a page holds for; `depth` in tokens."""
    return Said("head.position.one") if depth == 1 else _counted("head.position", "position", depth)


def room_said(context: int) -> Said:
    """What every memory of a page holds for; `context` in tokens."""
    return Said("head.room.one") if context == 1 else _counted("head.room", "room", context)


def _counted(code: str, name: str, count: int) -> Said:
    return Said(code, {name: f"{count:,}"})
