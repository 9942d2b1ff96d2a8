"""Every error and reason that a person may see: a code, parameters, and an English sentence.

Errors are born far from Qt and shown in many languages, so code raises `GramError(code, ...)` and
the doors (window, terminal) turn the code into words. The catalogue below is the English text; the
window translates the same templates. A sentence says what happened; the advice says what to do
next.
"""

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

Param: TypeAlias = str | int | float


# named tuples, no dataclasses: the window's first paint waits for this module (see ui.design)
class Sentence(NamedTuple):
    """English templates of one code; `{name}` is replaced by the parameter of that name."""

    text: str
    advice: str = ""


CATALOGUE: Final[Mapping[str, Sentence]] = MappingProxyType(
    {
        # builds
        "build_not_found": Sentence(
            "There is no file and no build called {name}.",
            "Check the path, or run `gram builds` to see what is here.",
        ),
        "reference_later": Sentence(
            "Not here yet.",
            "It is downloaded (98 MB) when it is first measured; without a connection a synthetic "
            "one is made.",
        ),
        "reference_no_room": Sentence(
            "Not here, and it cannot be kept: Gram may not write in its data folder.",
            "Check the folder's permissions, or choose another with GRAM_HOME.",
        ),
        "file_not_found": Sentence("There is no file {name}.", "Check the path."),
        "build_unreadable": Sentence(
            "The file {name} cannot be read: {detail}.",
            "Check its permissions and that its drive is connected.",
        ),
        "not_gguf": Sentence(
            "{name} is not a GGUF file: it starts with {found}.",
            "Gram measures GGUF files. Other formats can be converted with llama.cpp's tools.",
        ),
        "gguf_version": Sentence(
            "{name} is GGUF version {version}; Gram reads versions 2 and 3.",
            "Download the build again, or convert it with a current llama.cpp.",
        ),
        "gguf_big_endian": Sentence(
            "{name} is a big-endian GGUF file; the engine reads little-endian ones.",
            "Download the usual (little-endian) file of this build.",
        ),
        "gguf_cut": Sentence(
            "{name} is cut short: its header speaks of {expected_bytes} bytes, "
            "the file has {found_bytes}.",
            "Download it again; an interrupted download leaves such a file.",
        ),
        "gguf_header": Sentence(
            "The header of {name} is damaged: {detail}.",
            "Download it again, or choose another build.",
        ),
        "build_split": Sentence(
            "{name} is one part of a build in {count} files; Gram measures builds in one file.",
            "Join the parts with llama.cpp's `llama-gguf-split --merge`.",
        ),
        "build_write": Sentence(
            "The build {name} could not be written: {detail}.",
            "Free some disk space or check the folder's permissions, then try again.",
        ),
        "using_synthetic": Sentence(
            "{detail} A synthetic build of the same shapes is measured in its place.",
            "Its speeds compare with other synthetic runs. With a connection, Gram fetches the "
            "real one.",
        ),
        "reference_wrong": Sentence(
            "{name} is not the reference build: its checksum differs.",
            "Remove it; Gram fetches or makes the reference build itself.",
        ),
        "download_failed": Sentence(
            "{name} could not be downloaded: {detail}.",
            "Check the connection and try again; nothing else is lost.",
        ),
        "download_gated": Sentence(
            "{name} is given only to those who have agreed to its maker's terms.",
            "Open its page on Hugging Face, agree to them, and make a token for reading; then try "
            "again with it.",
        ),
        "download_gone": Sentence(
            "{name} is not there any more, or was never under this name.",
            "Look at its page for another file.",
        ),
        "download_corrupt": Sentence(
            "{name} came twice with another checksum than it should have; nothing of it was kept.",
            "Something on the way changes it (a proxy, a mirror): try another connection.",
        ),
        "download_disk": Sentence(
            "{name} could not be written: {detail}. What has come is kept.",
            "Free some disk space or check the folder's permissions, then try again: it goes on "
            "where it was.",
        ),
        "download_room": Sentence(
            "{name} needs {need_mb} MB on the disk, and {free_mb} MB are free.",
            "Free some disk space, or choose a smaller build.",
        ),
        "download_busy": Sentence(
            "{name} is being downloaded already, by another window or terminal.",
            "Wait for it, or stop it there.",
        ),
        # Hugging Face and its mirrors
        "hub_address": Sentence(
            "The address of Hugging Face's mirror (HF_ENDPOINT) cannot be used.",
            "Write it as https://host, without name, password and what stands behind a ?; plain "
            "http is for mirrors on this machine.",
        ),
        "hub_token": Sentence(
            "{host} does not accept the token.",
            "Make a new one for reading in its settings (Access Tokens), and check that all of it "
            "was copied.",
        ),
        "hub_unknown": Sentence(
            "{host} knows no {name}, or it is private.",
            "Check the spelling (owner/repository), or search for a part of the name. A private "
            "one needs a token.",
        ),
        "hub_revision": Sentence(
            "{name} has no such branch or commit.",
            "Leave it out to take what is newest, or look at its page for its branches.",
        ),
        "hub_busy": Sentence(
            "{host} answers nothing more for a while: too much was asked from here, or it is busy.",
            "Try again in {seconds} s. With a token more may be asked.",
        ),
        "hub_page": Sentence(
            "A web page came in place of an answer of {host}.",
            "Does this network ask you to sign in? Open any page in a browser; with a mirror, "
            "check HF_ENDPOINT.",
        ),
        "hub_unreachable": Sentence(
            "{host} gave no answer: {detail}.",
            "Check the connection, the proxy and HF_ENDPOINT. What is here already can be used "
            "without it.",
        ),
        "hub_answer": Sentence(
            "The answer of {host} cannot be used: {detail}.",
            "Try again later; with a mirror, try without HF_ENDPOINT.",
        ),
        "hub_no_builds": Sentence(
            "{name} holds no build that Gram can use: {detail}.",
            "Search for its name: packagers often add -GGUF to it.",
        ),
        "hub_no_tag": Sentence(
            "{name} has no build called {tag}.", "It has: {tags}. Write one behind a colon."
        ),
        "hub_several": Sentence(
            "{name} has several builds called {tag}.",
            "Write the file behind a colon. There are: {tags}.",
        ),
        "hub_no_sum": Sentence(
            "{name} has no checksum at its repository, so nobody could tell whether it came right.",
            "Choose another build, or download it with a browser and name the file.",
        ),
        # builds that other programs keep
        "on_disk_unreadable": Sentence(
            "{program}: {name} cannot be read ({detail}).",
            "Check its permissions and that its drive is connected.",
        ),
        "on_disk_missing": Sentence(
            "{program}: {name} is named, but the file is not there.",
            "Connect its drive, or fetch the build again there.",
        ),
        "on_disk_bad": Sentence(
            "{program}: {name} is not used. {detail}", "Fetch it again there, or remove it there."
        ),
        "on_disk_manifest": Sentence(
            "{program}: {name} does not describe a build as Gram knows it ({detail}).",
            "Add the folder of its files to Gram's settings: `[builds] folders`.",
        ),
        "on_disk_parts": Sentence(
            "{program}: of the parts of {name}, {found} of {count} are there.",
            "Fetch the others there.",
        ),
        "on_disk_deep": Sentence(
            "{program}: {name} lies too deep and was not looked into.",
            "Add it to Gram's settings: `[builds] folders`.",
        ),
        "on_disk_limit": Sentence(
            "{program}: there is so much in its folders that the search ended in {name}.",
            "Add the folder that matters to Gram's settings: `[builds] folders`.",
        ),
        "on_disk_no_folder": Sentence(
            "The folder {name}, which Gram's settings name for builds, is not there.",
            "Connect its drive, or take it out of `[builds] folders`.",
        ),
        "on_disk_more": Sentence("{program}: {count} more of its files are not used."),
        "on_disk_claim_wrong": Sentence(
            "{name} of {program} is not what it says: its checksum differs, so it is damaged or "
            "was changed.",
            "Fetch it again there. To measure the file as it is, name it by its path.",
        ),
        # Gram's own builds
        "library_list": Sentence(
            "The list of Gram's own builds ({name}) cannot be used: {detail}. What it does not "
            "name is not removed to make room.",
            "Nothing is lost. Gram sets it aside and begins another when it next fetches a build.",
        ),
        "library_write": Sentence(
            "{name} could not be changed: {detail}.",
            "Check the folder's permissions, and that no other program holds it; then try again.",
        ),
        "library_unknown": Sentence(
            "There is no build {name} among those that Gram keeps.",
            "`gram builds` shows what is here.",
        ),
        "library_not_ours": Sentence(
            "{name} was not fetched by Gram, or is a link to elsewhere: Gram does not remove it.",
            "Remove it yourself, in the folder of builds.",
        ),
        "library_measuring": Sentence(
            "A measurement is running, and {name} may be what is measured.",
            "Wait for it, or stop it; then try again.",
        ),
        "library_changed": Sentence(
            "The bytes of {name} are not what its folder's name says. It was not fetched by Gram "
            "and stays where it is.",
            "Remove it yourself if you do not need it.",
        ),
        "library_damaged": Sentence(
            "The bytes of {name} are not those that were fetched: its drive or another program "
            "changed them. The file was set aside as {aside}.",
            "Fetch the build again, and check the drive.",
        ),
        "library_short": Sentence(
            "{short_gb} GB more would be needed than can be freed.",
            "Raise the disk budget (`[builds] budget_gb`), unpin or remove builds, or free some "
            "disk space.",
        ),
        "library_since": Sentence("{name} was used or changed meanwhile, so it stays."),
        "builds_setting_bad": Sentence(
            "In {file}, {name} of [builds] cannot be {found}, so the default is used ({default}).",
            "Allowed: {allowed}.",
        ),
        "builds_setting_unknown": Sentence(
            "In {file}, {name} of [builds] is no setting.",
            "There are folders and budget_gb.",
        ),
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
        # keys
        "no_keychain": Sentence(
            "This system has no keychain that Gram can use ({detail}).",
            "On a desktop, install and unlock one (GNOME Keyring, KWallet). On a server, use "
            "`--allow-key-file`: the key is then kept in a file for your eyes only "
            "(`--key-file PATH` chooses which). To measure without signing: `--unsigned`.",
        ),
        "keychain_locked": Sentence(
            "The keychain is locked.",
            "Unlock it and try again, or measure without signing: `--unsigned`.",
        ),
        "keychain_refused": Sentence(
            "The keychain did not give Gram its key ({detail}).",
            "Allow Gram to use it and try again, or measure without signing: `--unsigned`.",
        ),
        "key_file_open": Sentence(
            "The key file {name} can be read by others (mode {mode}).",
            "Run `chmod 600` on it, so that only you can read it.",
        ),
        "key_file_bad": Sentence(
            "The key file {name} does not hold a Gram key: {detail}.",
            "Restore it from a copy, or move it away to have a new key made.",
        ),
        "key_file_write": Sentence(
            "The key file {name} could not be written: {detail}.",
            "Name a place that you may write to with `--key-file PATH`.",
        ),
        "using_key_file": Sentence(
            "The key is kept in the file {name}, which only you can read, and not in a keychain.",
            "Keep a copy of it in a safe place: who has it can sign as this machine.",
        ),
        # statements and the ledger
        "cannot_sign": Sentence(
            "This result cannot be signed: {detail}.",
            "Measure without signing (`--unsigned`), and report it with the log.",
        ),
        "bad_signature": Sentence(
            "The signature does not fit: this statement was changed or is not by ·{key}.",
            "Do not trust it; ask for the original.",
        ),
        "bad_envelope": Sentence(
            "{name} is not a signed statement: {detail}.",
            "Give a file that Gram wrote (`gram results --export`).",
        ),
        "nothing_named": Sentence(
            "No statement is named: the name is empty.",
            "Name a file, the id of a result kept here (`gram results`), or `-` for standard "
            "input.",
        ),
        "no_file_no_result": Sentence(
            "There is no file {name}, and no result here whose id begins so.",
            "Check the path, or run `gram results` to see the ids.",
        ),
        "is_folder": Sentence(
            "{name} is a folder, not a signed statement.",
            "Name a file in it, or the id of a result kept here (`gram results`).",
        ),
        "ledger_write": Sentence(
            "The result could not be kept: {detail}.",
            "Free some disk space or check the folder's permissions, then measure again.",
        ),
        "ledger_open": Sentence(
            "The ledger of results cannot be opened: {detail}.",
            "Nothing was changed. Check the permissions of the data folder (`gram doctor`).",
        ),
        "ledger_newer": Sentence(
            "The ledger was written by a newer Gram (format {found}; this one knows {known}).",
            "Nothing was changed. Update Gram.",
        ),
        "ledger_damaged": Sentence(
            "The ledger of results is damaged: {detail}.",
            "Nothing was changed. `gram doctor` says what can still be read of it, and how to "
            "rescue it.",
        ),
        "ledger_not_ours": Sentence(
            "{name} in the data folder is not Gram's ledger: {detail}.",
            "Nothing was changed. Move it away, and Gram makes a ledger of its own: `gram doctor` "
            "shows how.",
        ),
        "ledger_busy": Sentence(
            "The ledger of results is in use by another program: {detail}.",
            "Nothing was changed. Try again when that program has ended.",
        ),
        "folder_read_only": Sentence(
            "Gram may not write in its data folder: {detail}.",
            "Check the folder's permissions, or choose another with GRAM_HOME.",
        ),
        "no_such_result": Sentence(
            "No result here has an id that starts with {id}.", "Run `gram results` to see them."
        ),
        "mixture_unclear": Sentence(
            "The file does not tell how many of its experts a token uses.",
            "Choose another build of this model; this file's header is wrong.",
        ),
        "bad_number": Sentence(
            "{name} must be between {low} and {high}; {found} is not.",
            "Give a number in that range.",
        ),
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
            "In {file}, {name} stands below [{section}], where it is not used: settings have no "
            "sections.",
            "Write it as {near}, above the first line in square brackets, with an editor: the file "
            "is left as it is.",
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
        # what detection could not read
        "source_stuck": Sentence(
            "{name} did not answer in time and was given up on.",
            "What it tells is left out. If it comes back, restart this machine or update its "
            "driver.",
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
        # estimates: why a range is as wide as it is
        "estimate_matched": Sentence(
            "What {target} reaches on devices of this class is known, for attention of the usual "
            "sort."
        ),
        "estimate_class_unmeasured": Sentence(
            "No device of this class was measured under {target}: its range follows from other "
            "classes and is wider."
        ),
        "estimate_assumed": Sentence(
            "What {target} reaches on devices of this class is assumed, not measured.",
            "Measure it: on such a machine, `gram parts` and `gram fits`.",
        ),
        "estimate_experts": Sentence(
            "What layers of experts cost besides is known from few models, which widens the range."
        ),
        "estimate_state": Sentence(
            "What recurrent layers cost is known from few models, which widens the range."
        ),
        "estimate_latent": Sentence(
            "What a compressed cache costs to unpack is known from few models, which widens the "
            "range."
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
            "Measure it: on such a machine, `gram parts` and `gram fits`.",
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
        "quant_unknown": Sentence(
            "There is no quantization called {name}.", "There are: {allowed}."
        ),
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
            "It is so small that the processor's caches may hold much of it, which widens the "
            "range."
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
            "Not offered here: {quant}. llama.cpp, the engine that measures, does not run such "
            "files.",
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
    }
)


class Reason(NamedTuple):
    """Why something is so: a code of `CATALOGUE` with its parameters."""

    code: str
    params: Mapping[str, Param] = MappingProxyType({})

    def text(self) -> str:
        """The English sentence."""
        return _fill(CATALOGUE[self.code].text, self.params)

    def advice(self) -> str:
        """What to do next, in English; may be empty."""
        return _fill(CATALOGUE[self.code].advice, self.params)


class GramError(Exception):
    """Base of all errors that are shown to people; carries a `Reason`.

    Raises:
        KeyError: the code is not in the catalogue (a bug of ours, found by any test that meets it).
    """

    def __init__(self, code: str, **params: Param) -> None:
        self.reason = Reason(code, params)
        super().__init__(f"{self.reason.text()} {self.reason.advice()}".strip())

    @property
    def code(self) -> str:
        """The code in the catalogue."""
        return self.reason.code


class BuildError(GramError):
    """A build cannot be used: missing, damaged, not what it says."""


class BenchError(GramError):
    """A run ended without a result."""


class KeyUnavailableError(GramError):
    """There is no key to sign with: no keychain, locked, refused, or a bad key file."""


class StatementError(GramError):
    """A signed statement does not hold: changed, cut, or not ours."""


class LedgerError(GramError):
    """The ledger cannot be read or written."""


def _fill(template: str, params: Mapping[str, Param]) -> str:
    return template.format_map({name: in_sentence(value) for name, value in params.items()})


def in_sentence(value: Param) -> str:
    """`value` as sentences have it: whole thousands with marks, `40,960`; text as it is shown."""
    if isinstance(value, str):
        return visible_text(value)
    whole = int(value) if _LEAST_MARKED <= abs(value) < _MOST_MARKED else None
    return f"{whole:,}" if whole == value else str(value)


_NOT_SHOWN: Final = "\N{REPLACEMENT CHARACTER}"
MOST_MARKS: Final = 4
"""On one letter: no writing has more, and many reach over the lines above and below."""
_IGNORABLE: Final = frozenset(
    # of Default_Ignorable_Code_Point (Unicode, DerivedCoreProperties) those that are no controls,
    # and the braille blank: grapheme joiner, fillers, inherent vowels, selectors of variants
    map(
        chr,
        (
            *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0xFE00, 0xFE10),
            *range(0xE0100, 0xE01F0),
        ),
    )
)


_LEAST_MARKED: Final = 1000
_MOST_MARKED: Final = 1e15
"""From here on a number is no count: `1e+18` stays as it is."""


def visible_text(text: str, keep: str = "") -> str:
    """`text` with a sign in place of what is not shown: controls, ends of lines, turned writing.

    So is what has no width or looks like nothing, and a pile of marks is cut: letters have few.

    Args:
        text: of any length.
        keep: characters that stay all the same.
    """
    if text.isascii() and text.isprintable():
        return text
    # of the few characters that a text is made of, not of each place
    hidden = {c for c in set(text) if is_hidden(c) and c not in keep}
    shown = text.translate(dict.fromkeys(map(ord, hidden), _NOT_SHOWN))
    marks = "".join(re.escape(c) for c in set(shown) if is_mark(c))
    if not marks:
        return shown
    pile = f"([{marks}]{{{MOST_MARKS}}})[{marks}]+"
    return re.sub(pile, rf"\1{_NOT_SHOWN}", shown)


def is_hidden(letter: str) -> bool:
    """Whether it has no shape of its own: controls, and what Unicode calls ignorable."""
    return not letter.isprintable() or letter in _IGNORABLE


def is_mark(letter: str) -> bool:
    """Whether it is drawn on the letter before it, without room of its own."""
    return unicodedata.category(letter) in {"Mn", "Me"}
