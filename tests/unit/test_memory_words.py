"""What a build may use, in the words that terminal and window share."""

import pytest

from desktop.records.machine import Accelerator, Cpu, Machine
from desktop.rules.memory_answers import IN_MEMORY, ON_CARD, WITH_OFFLOAD, answers_in_words

GIB = 2**30


def machine(*cards):
    return Machine("Linux", "12", "x86_64", Cpu(None, 2, 4), 16 * GIB, cards)


def card(memory_gib, backends=("CUDA",)):
    size = None if memory_gib is None else memory_gib * GIB
    return Accelerator("NVIDIA", "Tesla T4", size, integrated=False, backends=backends)


@pytest.mark.parametrize("cards", [(), (card(15, backends=()),)])
def test_without_a_card_that_a_run_would_use_there_is_one_answer(cards):
    assert answers_in_words(machine(*cards)) == ((IN_MEMORY, 16 * GIB),)


def test_with_cards_there_are_two():
    assert answers_in_words(machine(card(15))) == ((ON_CARD, 15 * GIB), (WITH_OFFLOAD, 31 * GIB))


def test_a_card_that_does_not_tell_is_still_a_card():
    assert answers_in_words(machine(card(None))) == ((ON_CARD, None), (WITH_OFFLOAD, None))
