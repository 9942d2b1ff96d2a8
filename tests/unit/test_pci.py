"""rules.pci: one way of writing an address, for all rooms that get one told."""

import pytest

from desktop.rules.pci import pci_address, same_address


@pytest.mark.parametrize(
    ("told", "address"),
    [
        ("0000:c1:00.0", "0000:c1:00.0"),
        ("00000000:3B:00.0", "0000:3b:00.0"),
        ("65:00.1", "0000:65:00.1"),
        ("00010000:01:00.0", "10000:01:00.0"),
        ("", None),
        ("GPU-8f6d3a52-1b2c-4d5e-8f90-a1b2c3d4e5f6", None),
        ("SN4711", None),
    ],
)
def test_only_a_pci_address_is_taken_of_a_devices_id(told, address):
    assert pci_address(told) == address


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("00000000:0A:00.0", "0000:0a:00.0", True),
        ("0a:00.0", "0000:0a:00.0", True),
        ("0000:0a:00.0", "0000:0a:00.1", False),
        ("0001:0a:00.0", "0000:0a:00.0", False),
        (None, None, False),
        ("SN4711", "SN4711", False),
    ],
)
def test_two_addresses_are_one_cards_or_not(one, other, same):
    assert same_address(one, other) is same
