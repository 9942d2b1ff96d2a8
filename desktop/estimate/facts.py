"""A model's architecture facts, as its page lists them."""

from collections.abc import Iterator
from dataclasses import dataclass

from desktop.estimate import printed
from desktop.estimate.page_words import Said
from desktop.records.model import Attention, LayerGroup, Model


@dataclass(frozen=True, slots=True)
class Fact:
    """One line."""

    name: str
    """A code of `page_words.WORDS`."""
    value: tuple[str | Said, ...]
    """Published names and figures as they are, words to translate otherwise; commas between."""

    def text(self) -> str:
        """In English."""
        return ", ".join(v if isinstance(v, str) else v.text() for v in self.value)


def facts_of(model: Model) -> tuple[Fact, ...]:
    """In the order of the page; what no source tells is said so."""
    mixture = "facts.mixture" if model.is_mixture else "facts.dense"
    return (
        Fact("facts.architecture", (Said(mixture),)),
        Fact("facts.total", (printed.parameters(model.parameters),)),
        Fact("facts.active", (printed.parameters(active_parameters(model)),)),
        Fact("facts.attention", (attention_of(model) or Said("facts.no"),)),
        *(Fact("facts.layers", group_words(group)) for group in model.groups),
        Fact("facts.vocabulary", (_tokens(model.vocabulary),)),
        Fact("facts.tied", (Said("facts.yes" if model.tied else "facts.no"),)),
        Fact("facts.context", (_tokens(model.context_trained),)),
        *_published(model),
    )


def active_parameters(model: Model) -> int:
    """All, unless fewer are published as active for one token."""
    return model.parameters if model.active_parameters is None else model.active_parameters


def attention_of(model: Model) -> str:
    """The sorts of attention by their usual names: `GQA`, `GQA + sliding window`."""
    return " + ".join(dict.fromkeys(word for group in model.groups for word in _sorts(group)))


def group_words(group: LayerGroup) -> tuple[Said, ...]:
    """One group of equal layers, and what it has besides."""
    said = [
        Said(
            f"group.{group.attention}",
            {
                "layers": group.layers,
                "heads": group.heads or 0,
                "kv_heads": group.kv_heads or 0,
                "size": group.key_size or 0,
                "window": f"{group.window or 0:,}",
                "latent": group.latent_size or 0,
                "rope": group.rope_size or 0,
                "kind": _kind(group),
            },
        )
    ]
    if group.recurrent and group.attention is not Attention.RECURRENT:
        said.append(Said("group.also.recurrent", {"kind": _kind(group)}))
    if group.shares_cache:
        said.append(Said("group.also.shares"))
    if group.experts:
        counts = {"used": group.experts_used or 0, "experts": group.experts}
        said.append(Said("group.also.experts", counts))
    return tuple(said)


def _kind(group: LayerGroup) -> str:
    return group.recurrent.kind.replace("_", " ") if group.recurrent else ""


def _sorts(group: LayerGroup) -> Iterator[str]:
    if group.attention is Attention.LATENT:
        yield "MLA"
    elif group.attention in {Attention.FULL, Attention.SLIDING} and group.heads:
        fewer = (group.kv_heads or group.heads) < group.heads
        yield "MQA" if fewer and group.kv_heads == 1 else "GQA" if fewer else "MHA"
    if group.attention is Attention.SLIDING:
        yield "sliding window"
    if group.recurrent is not None:
        yield _kind(group)


def _published(model: Model) -> Iterator[Fact]:
    for name, value in (
        ("facts.precision", model.native_precision),
        ("facts.family", model.family),
        ("facts.publisher", model.publisher),
        ("facts.released", model.released),
        ("facts.license", model.license),
    ):
        yield Fact(name, (value or Said("facts.unknown"),))


def _tokens(count: int | None) -> Said:
    return Said("facts.unknown") if count is None else Said("facts.tokens", {"count": f"{count:,}"})
