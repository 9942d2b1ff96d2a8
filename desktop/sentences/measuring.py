"""Sentences about the engine, the machine and its watts."""

from collections.abc import Mapping
from typing import Final

from desktop.sentences.sentence import Sentence

SENTENCES: Final[Mapping[str, Sentence]] = {
    # the worker and the engine
    "engine_missing": Sentence(
        "The engine (llama.cpp) could not be loaded: {detail}.",
        "Run `python3 dev.py setup`, or install Gram again.",
    ),
    "worker_start": Sentence(
        "The measuring process could not be started: {detail}.", "Run `gram doctor`."
    ),
    "worker_crashed": Sentence(
        "The measuring process ended unexpectedly ({outcome}).",
        "Earlier results are safe. Try again; the log has the engine's last words.",
    ),
    "worker_killed": Sentence(
        "The system killed the measuring process, which most often means that memory ran out.",
        "Earlier results are safe. Close other programs, or choose a smaller build.",
    ),
    "worker_hung": Sentence(
        "The measuring process gave no sign of life for {seconds} s and was ended.",
        "Earlier results are safe. Try again, or choose a smaller build.",
    ),
    "worker_late": Sentence(
        "The measuring process went on for {seconds} s after its time was over and was ended.",
        "Earlier results are safe. Close other programs and measure again.",
    ),
    "worker_garbage": Sentence(
        "The measuring process sent something that is not a message: {line}.",
        "Nothing of this run was kept. Try again; if it comes back, report it with the log.",
    ),
    "out_of_memory": Sentence(
        "There is not enough memory for {name}.",
        "Close other programs, or choose a smaller build or a shorter context.",
    ),
    "too_large": Sentence(
        "{name} needs about {need_gb} GB of memory (estimate); {free_gb} GB are free.",
        "Close other programs, or choose a smaller build.",
    ),
    "load_failed": Sentence(
        "The engine refused {name}: {detail}.",
        "Choose another build, or see the log for the engine's words.",
    ),
    "no_parts": Sentence(
        "No part of this machine could be measured ({detail}).",
        "Close other programs and try again; the log has the engine's words.",
    ),
    "processor_instead": Sentence(
        "The engine put {name} on the processor, although {card} is there: the figures would "
        "not be the card's, so they are not measured.",
        "Close what holds the card's memory and check its driver (`gram doctor`), or measure "
        "the processor on purpose: `gram bench --gpu-layers 0`.",
    ),
    "card_lost": Sentence(
        "This machine has {card}, and the engine ({backends}) finds no card it can use: the "
        "processor's figures would stand as the card's, so nothing is measured.",
        "Check the card's driver (a restart or a lost pass-through does this), or measure the "
        "processor on purpose: `gram bench --gpu-layers 0`.",
    ),
    "device_no_card": Sentence(
        "{name} is the processor, not a card.",
        "Measure it: `gram bench --gpu-layers 0`. The engine's cards: {there}.",
    ),
    "no_such_device": Sentence(
        "The engine lists no card called {name}.",
        "It lists: {there} (`gram machine` shows them).",
    ),
    "decode_failed": Sentence(
        "The engine failed while measuring {name} (code {status}).",
        "Try again; the log has the engine's words.",
    ),
    "cancelled": Sentence("Stopped. Nothing of the stopped run was kept."),
    "busy": Sentence(
        "Another measurement is running on this machine ({holder}).",
        "Two at once would slow each other. Wait for it, or stop it.",
    ),
    "waiting": Sentence("Waiting: another measurement is running on this machine ({holder})."),
    "app_running": Sentence("Gram is already open; its window was brought to the front."),
    # what detection could not read
    "source_stuck": Sentence(
        "{name} did not answer in time and was given up on.",
        "What it tells is left out. If it comes back, restart this machine or update its driver.",
    ),
    "source_missing": Sentence(
        "{name} is not on this system.", "What it tells is left out; nothing else is lost."
    ),
    "source_refused": Sentence(
        "{name} could not be started.", "Check that you may run it; what it tells is left out."
    ),
    "source_failed": Sentence(
        "{name} ended with an error.",
        "Run it yourself to see its words; what it tells is left out.",
    ),
    "source_unreadable": Sentence(
        "{name} could not be read ({detail}).",
        "What it tells is left out; report it with the log if it comes back.",
    ),
    "source_silent": Sentence(
        "{name} told nothing of the cards that it runs ({count}); the system's tables name "
        "what is there.",
        "Check the card's driver.",
    ),
    "source_in_part": Sentence(
        "{name} had told {told} of {count} cards; the others are named by the system's tables.",
        "Look again; a card may take seconds to wake.",
    ),
    "cards_unknown": Sentence(
        "It could not be found out which cards this machine has: its results say so.",
        "`gram machine` names what gave no answer. If it comes back, restart this machine or "
        "update its drivers.",
    ),
    "engine_silent": Sentence(
        "The engine told nothing of its devices, for the reason that follows.",
        "`gram doctor` says what is missing.",
    ),
    # how modelled watts are made
    "modelled_logical": Sentence(
        "Modelled, not measured: {idle_w} W + CPU load × ({full_w} W - {idle_w} W), which is "  # noqa: RUF001
        "{idle_core_w} W idle and {full_core_w} W at full load for each of {cores} logical "
        "cores. Row '{row}': {source}."
    ),
    "modelled_physical": Sentence(
        "Modelled, not measured: {idle_w} W + CPU load × ({full_w} W - {idle_w} W), which is "  # noqa: RUF001
        "{idle_core_w} W idle and {full_core_w} W at full load for each of {cores} physical "
        "cores. Row '{row}': {source}."
    ),
    "modelled_guest": Sentence(
        "This is a virtual machine, modelled from the {cores} cores that it has: the host "
        "around it and its other guests are not counted."
    ),
    "modelled_card": Sentence(
        "{name}: {idle_w} W + its load × ({limit_w} W - {idle_w} W), the limit by the "  # noqa: RUF001
        "catalogue, idle {idle_share} of it. Row '{row}': {source}."
    ),
}
