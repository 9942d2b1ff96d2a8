"""Sentences about estimates and rehearsals."""

from collections.abc import Mapping
from typing import Final

from desktop.sentences.sentence import Sentence

SENTENCES: Final[Mapping[str, Sentence]] = {
    # estimates of memory
    "layers_unclear": Sentence(
        "The layers of {name} cannot be told apart: {detail}.",
        "Choose another build; this file's header or catalogue row is wrong.",
    ),
    "cache_type": Sentence("The cache cannot be kept as {found}.", "Choose one of: {allowed}."),
    "cache_rows": Sentence(
        "The cache cannot be kept as {found}: it packs {block} numbers together, and a head of "
        "{name} has {elements}.",
        "Keep the cache as F16.",
    ),
    "architecture_unknown": Sentence(
        "Gram does not know how much memory the architecture {architecture} needs.",
        "Measure it (`gram bench`), or look for a newer Gram.",
    ),
    "header_absurd": Sentence(
        "The header of {name} says {key} = {found}, which no model has.",
        "Download the build again, or choose another.",
    ),
    "header_lacks": Sentence(
        "The header of {name} does not say {key}, without which memory cannot be estimated.",
        "Download the build again, or choose another.",
    ),
    "placement_bad": Sentence(
        "The model cannot be spread like that: {detail}.", "Change what lies on which card."
    ),
    "ambiguous_result": Sentence(
        "{count} results here have ids that start with {id}.", "Give more of the id."
    ),
    "no_parts_kept": Sentence(
        "The parts of this machine were not measured here yet.", "Measure them: `gram parts`."
    ),
    # estimates: why a range is as wide as it is
    "estimate_matched": Sentence(
        "What {target} reaches on devices of this class is known, for attention of the usual sort."
    ),
    "estimate_class_unmeasured": Sentence(
        "No device of this class was measured under {target}: its range follows from other "
        "classes and is wider."
    ),
    "estimate_assumed": Sentence(
        "What {target} reaches on devices of this class is assumed, not measured.",
        "Measure it: `gram fits --probe` on the machine itself, in under a minute.",
    ),
    "estimate_experts": Sentence(
        "What layers of experts cost besides is known from few models, which widens the range."
    ),
    "estimate_state": Sentence(
        "What recurrent layers cost is known from few models, which widens the range."
    ),
    "estimate_latent": Sentence(
        "What a compressed cache costs to unpack is known from few models, which widens the range."
    ),
    "estimate_tables": Sentence(
        "How fast types that look up tables ({quant}) are unpacked is assumed, which widens "
        "the range."
    ),
    "estimate_outside_regime": Sentence(
        "The shares of bandwidth of {target} were not stated for {family} models that read as "
        "few or as many bytes a token as this one: they are carried over to it."
    ),
    "estimate_latency_zero": Sentence(
        "Nobody measured the fixed time that {target} takes for a layer or a token, so it "
        "counts as zero: an assumption, no measurement."
    ),
    "estimate_size_bits": Sentence(
        "No file of {quant} is known to the byte; its size is computed from the number of "
        "parameters and the bits per weight."
    ),
    "estimate_size_tensors": Sentence(
        "No file of {quant} is known to the byte; its size is computed from the model's "
        "tensors, by the rule by which llama.cpp gives each of them its type."
    ),
    "estimate_size_exact": Sentence("The size of {quant} is a file's own."),
    "estimate_tight": Sentence(
        "It fits, but barely: {quant} needs {need} of the {usable} that can be used on "
        "{device}. Another program on the card, or a longer context, and it does not.",
        "Choose the next smaller quantization where the card also drives a display.",
    ),
    # estimates: why there is none
    "estimate_no_target": Sentence(
        "No back end is known to run {quant} on {memory} ({device}): that is not supported. It "
        "does not mean that the estimate failed.",
        "Choose a quantization that a back end of this device has, or add a back end for {id} "
        "to the table of targets.",
    ),
    "estimate_too_large": Sentence(
        "{quant} is the smallest that a back end of {device} has, and it needs {need} of the "
        "{usable} that can be used.",
        "Choose a smaller model, a shorter context, or a device with more memory.",
    ),
    "estimate_does_not_fit": Sentence(
        "{quant} needs {need} of the {usable} that can be used on {device}.",
        "Choose a smaller quantization, a shorter context, or a device with more memory.",
    ),
    "estimate_no_bandwidth": Sentence(
        "The memory bandwidth of {device} has no source, so there is no rate.",
        "Measure it: `gram fits --probe` on the machine itself, in under a minute.",
    ),
    "estimate_beyond_context": Sentence(
        "{name} is trained for {trained} tokens; {found} are more.", "Give a shorter context."
    ),
    "estimate_no_arithmetic": Sentence(
        "{device} does not compute in {quant}, so it is not offered there.",
        "Choose another quantization.",
    ),
    "model_unknown": Sentence(
        "The catalogue has no model called {name}.",
        "`gram estimate` lists all; `gram estimate --find WORD` those with WORD in their name.",
    ),
    "model_near": Sentence("The catalogue has no model called {name}.", "Near: {near}."),
    "device_unknown": Sentence(
        "The catalogue has no device called {name}.",
        "`gram estimate MODEL` lists the ids of all.",
    ),
    "device_near": Sentence("The catalogue has no device called {name}.", "Near: {near}."),
    "device_not_on_page": Sentence(
        "{name} is not on the published page that `--profile page` reproduces.",
        "Leave `--profile page` out: Gram's own tables have it.",
    ),
    "quant_unknown": Sentence("There is no quantization called {name}.", "There are: {allowed}."),
    # estimates for this machine
    "estimate_runs": Sentence(
        "Narrowed by {runs} signed runs of {builds} builds on this machine, as it is now.",
        "More runs narrow it further: `gram bench`.",
    ),
    "estimate_parts": Sentence(
        "By this machine's own parts: how fast it reads each type of weights, and what a layer "
        "costs it.",
        "Runs narrow it: `gram bench`.",
    ),
    "estimate_parts_old": Sentence(
        "The parts were measured with the engine's version {found}; it is {now} now.",
        "Measure them again: `gram parts`.",
    ),
    "estimate_parts_lacking": Sentence(
        "The parts that were measured lack what rates follow from: memory by matrix-vector "
        "products with {threads} threads, and the small graph.",
        "Measure them again while the machine is quiet: `gram parts`.",
    ),
    "estimate_parts_busy": Sentence(
        "The parts were measured while other programs took {percent} % of the processors, so "
        "nothing of the processor follows from them.",
        "Measure them again while the machine is quiet: `gram parts`.",
    ),
    "estimate_parts_quieter": Sentence(
        "While the newest parts were measured, other programs took {percent} % of the "
        "processors: those of {at} (UTC) are used.",
        "Measure them again while the machine is quiet: `gram parts`.",
    ),
    "estimate_parts_disturbed": Sentence(
        "While the parts were measured, other programs took {percent} % of the processors, "
        "which widens the ranges.",
        "Measure them again while the machine is quiet: `gram parts`.",
    ),
    "estimate_parts_unsure": Sentence(
        "Parts that no range rests on, as their repetitions differ by more than {percent} % or "
        "caches may have helped: {tests}.",
        "Measure them again while the machine is quiet: `gram parts`.",
    ),
    "estimate_parts_doubtful": Sentence(
        "A run here took {times} times the memory's bandwidth by the parts, so one of the two "
        "is wrong, and until it is known which, nothing follows from the parts.",
        "Measure them again while the machine is quiet: `gram parts`.",
    ),
    "estimate_parts_slow": Sentence(
        "Runs here took {times} times the memory's bandwidth by the parts: these are of a slow "
        "moment and count as so much faster, which widens the ranges. Of prompts nothing "
        "follows.",
        "Measure them again while the machine is quiet: `gram parts`.",
    ),
    "estimate_no_parts": Sentence(
        "By the catalogue's interval for such devices, not by parts measured here.",
        "Measure them, in under a minute: `gram fits --probe`.",
    ),
    "estimate_parts_no_rate": Sentence(
        "By the catalogue's interval for such devices: no rate follows from the parts that "
        "were measured here.",
        "Measure them again while the machine is quiet: `gram parts`.",
    ),
    "estimate_types_near": Sentence(
        "How fast this machine reads {types} does not follow from its parts but from near "
        "types, which widens the range."
    ),
    "estimate_in_caches": Sentence(
        "It is so small that the processor's caches may hold much of it, which widens the range."
    ),
    "estimate_offload": Sentence(
        "Some of it is computed by the processor, some on the card, one after the other."
    ),
    "estimate_rehearsed": Sentence(
        "By a rehearsal here, {at}: files of its shapes were measured, not the build itself."
    ),
    "estimate_runs_left_out": Sentence("Runs that are not counted: {why}."),
    "estimate_parts_left_out": Sentence("Parts that are not counted: {why}."),
    "estimate_parts_supply": Sentence(
        "The parts were measured on {found}; the machine is on {now} now, which makes many "
        "faster or slower.",
        "Measure them again: `gram parts`.",
    ),
    "estimate_ceiling_doubtful": Sentence(
        "By what was measured here it is faster than the memory's bandwidth allows as it is "
        "known, so one of them is wrong: the range reaches over both.",
        "Measure the parts again while the machine is quiet: `gram parts`.",
    ),
    "estimate_fits_nowhere": Sentence(
        "It needs {need}; of all memory here {usable} can be used beside the engine's own.",
        "Choose a smaller quantization or model, or a shorter context.",
    ),
    "estimate_card_lacks": Sentence(
        "{device} would have to hold {need}; of its {memory} {usable} can be used.",
        "Choose a smaller quantization or model, or a shorter context.",
    ),
    "estimate_host_lacks": Sentence(
        "It needs {need} of the system's memory; of {memory} {usable} can be used beside the "
        "engine's own.",
        "Choose a smaller quantization or model, or a shorter context.",
    ),
    "estimate_host_memory_unknown": Sentence(
        "How large the system's memory is, is not known: the system did not tell. So it is not "
        "known what fits.",
        "`gram machine` lists what the system told.",
    ),
    "estimate_card_memory_unknown": Sentence(
        "The memory of {device} is not known: neither its driver nor the engine tells it. What "
        "fits is worked out without it.",
        "Check the card's driver; `gram machine` lists what it tells.",
    ),
    "estimate_room_card": Sentence(
        "Of the {memory} of {device} a build may take {usable}, its back end's own {own} "
        "counted; the rest is left to driver and display."
    ),
    "estimate_room_system": Sentence(
        "Of the system's memory, {memory}, a build may take {usable}: {share} %. The rest is "
        "left to the system and other programs."
    ),
    "estimate_no_engine": Sentence(
        "Not offered here: {quant}. llama.cpp, the engine that measures, does not run such files.",
        "Choose a quantization of GGUF files, for example Q4_K_M.",
    ),
    "estimate_arithmetic_unknown": Sentence(
        "{quant} is not offered here: no source tells that {device} computes in it.",
        "Choose another quantization, for example F16, which is as large.",
    ),
    "estimate_mixtures_only": Sentence(
        "{quant} is made for mixtures of experts: it is offered for no other model.",
        "Choose another for those, for example Q4_K_M.",
    ),
    "estimate_context_untold": Sentence(
        "No source tells how long a context {name} is trained for: at {found} tokens its "
        "answers may be worth nothing."
    ),
    "estimate_card_unused": Sentence(
        "Not used: {cards}. The engine here (llama.cpp for {backends}) does not list it, so "
        "all figures are without it.",
        "Check the card's driver; each card needs an engine that is built for its kind (CUDA, "
        "ROCm, Vulkan, Metal).",
    ),
    "quant_near": Sentence("There is no quantization called {name}.", "Did you mean {near}?"),
    "word_near": Sentence(
        "No model of the catalogue has {name} in its names.", "Did you mean {near}?"
    ),
    "words_apart": Sentence(
        "Each of these words is in the names of models, but no model has all of them: {name}.",
        "Leave some of them out.",
    ),
    # rehearsals
    "rehearsal_unknown": Sentence(
        "{name} cannot be rehearsed: the shapes of its tensors are not known, or its "
        "quantization is not one of llama.cpp's.",
        "Choose another quantization (`gram fits --all` lists them), or measure the build "
        "itself: `gram bench`.",
    ),
    "rehearsal_too_large": Sentence(
        "A rehearsal of {name} needs files of {need_gb} GB; {free_gb} GB can be had.",
        "Free disk space and memory, or choose a smaller quantization. The estimate stands "
        "without a rehearsal.",
    ),
    "rehearsal_noisy": Sentence(
        "The rehearsal of {name} gave no answer: the file with more layers was not slower.",
        "Close other programs and try again.",
    ),
    "rehearsal_no_result": Sentence(
        "{name} was made for a rehearsal: its weights are random and most of its layers are "
        "left out, so its speed is no result and is not signed.",
        "Measure the build itself: `gram bench`.",
    ),
    "rehearsal_no_quant": Sentence(
        "{name} is a model: which quantization of it is to be rehearsed?",
        "Write it behind the name, as {name}:Q4_K_M. There are: {allowed}.",
    ),
    "rehearsal_name": Sentence(
        "{name} names no build of the catalogue.",
        "Write a model and a quantization: `gram fits --rehearse llama-3.2-1b-instruct:Q4_K_M`."
        "{near}",
    ),
}
