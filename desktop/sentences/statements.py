"""Sentences about keys, statements and the ledger."""

from collections.abc import Mapping
from typing import Final

from desktop.sentences.sentence import Sentence

SENTENCES: Final[Mapping[str, Sentence]] = {
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
        "Name a file, the id of a result kept here (`gram results`), or `-` for standard input.",
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
    "folder_gone": Sentence(
        "Of Gram's folders, {name} is a link, and what it leads to is not there.",
        "Connect its drive, or make it a link to a folder that is there.",
    ),
    "folder_no_folder": Sentence(
        "Where Gram's folder {name} should be there is a file of that name.",
        "Move the file away, or choose another folder with GRAM_HOME.",
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
}
