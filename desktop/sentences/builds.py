"""Sentences about builds: files, downloads, hubs, and what lies on the disk."""

from collections.abc import Mapping
from typing import Final

from desktop.sentences.sentence import Sentence

SENTENCES: Final[Mapping[str, Sentence]] = {
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
}
