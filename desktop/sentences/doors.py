"""Sentences about settings, prices, and what doors say."""

from collections.abc import Mapping
from typing import Final

from desktop.sentences.sentence import Sentence

SENTENCES: Final[Mapping[str, Sentence]] = {
    # settings, carbon and price
    "setting_unknown": Sentence(
        "There is no setting called {name}.", "The settings are: {allowed}."
    ),
    "setting_bad": Sentence("{name} cannot be {found}.", "Give {allowed}."),
    "place_meant": Sentence(
        "{found} is no code of a place.",
        "Did you mean {meant}? Set it so: `gram settings place {place}`.",
    ),
    "setting_bad_in_file": Sentence(
        "In {file}, {name} cannot be {found}, so the default is used ({default}).",
        "Allowed: {allowed}. Set it (`gram settings {name} VALUE`) or remove it (`gram "
        "settings {name} --unset`).",
    ),
    "settings_broken": Sentence(
        "The settings could not be read ({detail}), so the defaults are used; the file was set "
        "aside as {aside}.",
        "Set them again, or repair that file and name it {name} again.",
    ),
    "settings_unreadable": Sentence(
        "The settings could not be read ({detail}), so the defaults are used.",
        "Check the permissions of the data folder (`gram doctor`).",
    ),
    "settings_write": Sentence(
        "The setting could not be kept: {detail}.",
        "Free some disk space or check the data folder's permissions, then try again.",
    ),
    "settings_busy": Sentence(
        "The setting could not be kept: another Gram is changing the settings.", "Try again."
    ),
    "setting_near": Sentence(
        "There is no setting called {name}.", "Did you mean {near}? There are: {allowed}."
    ),
    "setting_near_in_file": Sentence(
        "In {file}, {name} is no setting, so it is not used.",
        "Did you mean {near}? Correct the name with an editor: the file is left as it is.",
    ),
    "setting_in_section": Sentence(
        "In {file}, {name} stands below [{section}], where it is not used: it stands in no "
        "section.",
        "Write it as {near}, above the first line in square brackets, with an editor: the file "
        "is left as it is.",
    ),
    "setting_in_other_section": Sentence(
        "In {file}, {name} stands below [{section}], where it is not used.",
        "Write it as {near} below [{right}], with an editor: the file is left as it is.",
    ),
    "setting_no_table": Sentence(
        "In {file}, {name} is no table, so nothing of it is used.",
        "Write [{name}], and each of its settings on a line of its own below it, with an editor.",
    ),
    "setting_item_bad_in_file": Sentence(
        "In {file}, {name} cannot hold {found}, so that is left out.",
        "Allowed: {allowed}. Take it out with an editor.",
    ),
    "folder_missing": Sentence(
        "There is no file or folder {name}.", "Check the path, and that its drive is connected."
    ),
    "settings_not_read": Sentence(
        "In {file} these are no settings of this Gram, so they are not used: {names}.",
        "There are: {allowed}. The file is left as it is: a newer Gram may know them.",
    ),
    "resource_damaged": Sentence(
        "Gram's data file {name} is damaged: {detail}.", "Install Gram again."
    ),
    "no_energy": Sentence(
        "The energy of this run is not known.", "`gram power` says which meters there are."
    ),
    "no_generation": Sentence("This run measured no generation."),
    "price_rent_missing": Sentence(
        "What this rented machine costs is not set.",
        "Say it: `gram settings hourly_rate_usd 0.50`.",
    ),
    "price_tariff_missing": Sentence(
        "The price of electricity is not set.",
        "Say it, for example: `gram settings tariff_usd_kwh 0.30`.",
    ),
    "price_hardware_missing": Sentence(
        "The catalogue has no price of {name}.",
        "Say what it cost, for example: `gram settings hardware_price_usd 1600`.",
    ),
    "price_cards_unknown": Sentence(
        "It could not be found out which cards this machine has, so there is no price of it.",
        "Say what it cost, for example: `gram settings hardware_price_usd 1600`.",
    ),
    "price_watts_missing": Sentence(
        "Neither a meter nor the catalogue tells what this machine draws.",
        "Say the whole rate: `gram settings hourly_rate_usd 0.10`.",
    ),
    # doors
    "no_display": Sentence(
        "There is no screen for a window here ({detail}).",
        "Use the terminal: `gram --help`.",
    ),
    "output_full": Sentence(
        "The output could not be written: its disk is full.",
        "Free some space there, or write it elsewhere.",
    ),
    "output_full_kept": Sentence(
        "The output could not be written: its disk is full.",
        "The result is kept all the same: `gram results {id}` shows it.",
    ),
    "no_log": Sentence(
        "No log is kept: its file cannot be written ({detail}).",
        "Check the permissions of the folder that `gram doctor` names, or choose another with "
        "GRAM_HOME.",
    ),
    "output_failed_kept": Sentence(
        "The output could not be written: {detail}.",
        "The result is kept all the same: `gram results {id}` shows it.",
    ),
    "output_failed": Sentence(
        "Reading or writing failed: {detail}.",
        "Earlier results are safe. `gram doctor` looks at the folders.",
    ),
    "unexpected": Sentence(
        "Something went wrong in Gram itself: {detail}.",
        "Earlier results are safe. The log says more: {log}.",
    ),
    "copy_failed": Sentence(
        "The command could not be copied: {detail}.", "Copy it from the terminal."
    ),
}
