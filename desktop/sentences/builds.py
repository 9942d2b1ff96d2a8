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
        "{name} is cut short: its header speaks of {expected_bytes}, and {missing_bytes} of them "
        "are missing.",
        "Download it again; an interrupted download leaves such a file.",
    ),
    "gguf_cut_header": Sentence(
        "{name} is cut short: it ends after {found_bytes}, within its header.",
        "Download it again; an interrupted download leaves such a file.",
    ),
    "gguf_header": Sentence(
        "The header of {name} is damaged: {detail}.",
        "Download it again, or choose another build.",
    ),
    "add_other_file": Sentence(
        "{name} is a file whose name does not end in .gguf.",
        "Add a GGUF file, or the folder that it is in. Files without that ending (Ollama's blobs) "
        "are found where their programs keep them.",
    ),
    "build_split": Sentence(
        "{name} is one part of a build in {count} files, but its name does not say which.",
        "Give all parts their names back (name-00001-of-{count}.gguf, with five digits), in one "
        "folder, or join them with llama.cpp's `llama-gguf-split --merge`.",
    ),
    "build_part_missing": Sentence(
        "{name} is missing: of the {count} files of this build, {found} are there.",
        "Put it beside the others under that name, or download the build again: what is there is "
        "kept.",
    ),
    "build_not_here": Sentence(
        "There is no file {name} and no build of that name on this machine.",
        "Download it with `{command}`, or run `gram builds` to see what is here.",
    ),
    "build_no_name": Sentence(
        "“{name}” is no build that is here, and not the name of one that can be fetched.",
        "Names are written owner/repo, hf.co/owner/repo:Q4_K_M or owner/repo/file.gguf, or as an "
        "address of Hugging Face or of the mirror in HF_ENDPOINT. `gram builds search {words}` "
        "shows names; `gram builds` shows what is here.",
    ),
    "build_unfinished": Sentence(
        "{name} is an unfinished download: not all of it is here.",
        "`{command}` goes on where it was.",
    ),
    "build_damaged": Sentence(
        "{name} was set aside because its bytes were not those that were fetched.",
        "`{command}` fetches it again.",
    ),
    "build_several": Sentence(
        "{name} may mean several builds that are here: {names}.",
        "Name one by its whole name, by its path, or by how its sha256 begins (8 digits or more).",
    ),
    "build_changed": Sentence(
        "{name} is not what was fetched: its checksum differs, so its drive or another program "
        "changed it.",
        "`gram builds verify` sets it aside; then fetch it again. To measure the file as it is, "
        "name it by its path.",
    ),
    "build_replaced": Sentence(
        "{name} was changed or replaced while it was read or measured, so nothing of it is kept.",
        "Wait until what writes it has ended, then try again.",
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
    "download_broke": Sentence(
        "{name} could not be downloaded to its end: {detail}. {kept_bytes} of {size_bytes} are "
        "here and are kept.",
        "Check the connection and ask for it again: it goes on where it was.",
    ),
    "download_gated": Sentence(
        "{name} is given only to those who have agreed to its maker's terms.",
        "Open {page}, agree to them, and make a token for reading (Settings, Access Tokens). Give "
        "it to Gram with `gram builds token --set`, or, where there is no keychain, in the "
        "environment variable HF_TOKEN; then try again.",
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
        "{name} needs {need_bytes} on the disk, and {free_bytes} are free.",
        "Free some disk space, or choose a smaller build.",
    ),
    "download_busy": Sentence(
        "{name} is being downloaded already, by another window or terminal.",
        "Wait for it, or stop it there.",
    ),
    "download_metered": Sentence(
        "This connection is metered, and {name} has {size_bytes}.",
        "Wait for another connection, or write --metered to download it all the same; "
        "`gram settings builds.metered allow` is never asked again.",
    ),
    "download_not_run": Sentence(
        "{name} would not run on this machine. {detail}",
        "Choose a smaller build, or write --anyway to download it all the same.",
    ),
    "download_not_judged": Sentence(
        "Whether {name} runs on this machine is not known: {detail}",
    ),
    "download_stopped": Sentence(
        "The download of {name} was stopped; what has come is kept.",
        "Asked for again, it goes on where it was.",
    ),
    "download_here": Sentence("{name} is here already; nothing was downloaded."),
    "download_elsewhere": Sentence(
        "{name} is on this machine already, kept by {programs}: it is used where it is, and "
        "nothing was downloaded.",
    ),
    "proxy_unusable": Sentence(
        "The proxy that is set for downloads cannot be used: its address is none of an HTTP proxy.",
        "Set HTTPS_PROXY to http://host:port (with a name and a password: "
        "http://name:password@host:port, signs in them written as %40), or correct the proxy in "
        "the system's settings.",
    ),
    "proxy_socks": Sentence(
        "A SOCKS proxy is set for downloads, and Gram asks by HTTP proxies only.",
        "Set HTTPS_PROXY to an HTTP proxy (http://host:port); it goes before ALL_PROXY. If none is "
        "needed, unset ALL_PROXY, or name the host in NO_PROXY.",
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
        "was copied. `gram builds token` tells which one is sent.",
    ),
    "token_no_keychain": Sentence(
        "There is no keychain that could keep a token of Hugging Face ({detail}).",
        "On a desktop, install and unlock one (GNOME Keyring, KWallet). On a server, put the "
        "token into the environment variable HF_TOKEN: Gram then keeps it nowhere.",
    ),
    "token_keychain_locked": Sentence(
        "The keychain is locked, so a token of Hugging Face in it can neither be used nor changed.",
        "Unlock it and try again, or put the token into the environment variable HF_TOKEN.",
    ),
    "token_keychain_refused": Sentence(
        "The keychain did not do what was asked of it with the token of Hugging Face ({detail}).",
        "Allow Gram to use it and try again, or put the token into the environment variable "
        "HF_TOKEN.",
    ),
    "hub_unknown": Sentence(
        "{host} knows no {name}, or it is private.",
        "Check the spelling (owner/repository), or search for a part of the name. A private "
        "one needs a token: `gram builds token --set`, or HF_TOKEN in the environment.",
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
    "hub_not_asked": Sentence(
        "What {name} holds is not known without a connection.", "Try again with one."
    ),
    "listing_large": Sentence(
        "{name} lists {files} files: more than Gram remembers of one repository, so its builds "
        "cannot be shown.",
        "`gram builds get {name}:TAG` fetches one all the same; its page shows their names.",
    ),
    "listings_full": Sentence(
        "{name} is not remembered: the repositories that you added leave no room in the list.",
        "Take out one that you do not need with `gram builds rm OWNER/REPO`; then try again.",
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
        "`gram builds` shows what is here. How a sha256 begins names a build from 8 digits on.",
    ),
    "library_not_ours": Sentence(
        "{name} was not fetched by Gram, or is a link to elsewhere: Gram does not remove it.",
        "Remove it yourself, in the folder of builds.",
    ),
    "library_others": Sentence(
        "{name} is kept by {programs}, not by Gram: Gram uses it where it is, and never changes or "
        "removes it.",
        "Whatever is to become of it is done there.",
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
    "library_damaged_stays": Sentence(
        "The bytes of {name} are not those that were fetched: its drive or another program "
        "changed them. The file could not be set aside: {detail}.",
        "Remove {file} yourself, fetch the build again, and check the drive.",
    ),
    "library_short": Sentence(
        "{name} needs {need_bytes}: {short_bytes} more than can be freed.",
        "Raise the disk budget with `gram settings builds.budget_gb N`, unpin builds with "
        "`gram builds unpin`, remove some with `gram builds rm`, or free some disk space.",
    ),
    "library_several": Sentence(
        "{name} may mean several builds: {names}.",
        "Name one by its whole name, or by how its sha256 begins (8 digits or more).",
    ),
    "library_needs_room": Sentence(
        "{name} needs {need_bytes}. For it these would be removed, least recently used first: "
        "{names} ({freed_bytes}).",
        "Write --make-room to allow that, keep what is to stay with `gram builds pin`, or raise "
        "the disk budget with `gram settings builds.budget_gb N`.",
    ),
    "remove_unasked": Sentence(
        "{name} was not removed: nobody could be asked.", "Write --yes to remove it all the same."
    ),
    "remove_unasked_pinned": Sentence(
        "{name} is pinned and was not removed: nobody could be asked.",
        "Write --yes to remove it all the same.",
    ),
    "remove_declined": Sentence("{name} stays."),
    "verify_no_sum": Sentence(
        "Nothing is known of what the bytes of {name}, which {programs} keeps, should be: there is "
        "nothing to compare them with.",
        "Where it has a page, compare the checksum that stands there with this: {sha256}.",
    ),
    "verify_other": Sentence(
        "The bytes of {name} are not those that {repository} lists: it is another version, or it "
        "is damaged.",
        "Compare it with its page, or fetch it again there.",
    ),
    "verify_stopped": Sentence("It was stopped: what was not read by then was not checked."),
    "library_since": Sentence("{name} was used or changed meanwhile, so it stays."),
    # how to run a build with another program
    "use_context_trained": Sentence(
        "{name} was trained for {trained} tokens: the commands have that many in place of {asked}."
    ),
    "use_powershell": Sentence("The command is for PowerShell."),
    "use_llama_address": Sentence(
        "Its page and its API are then at {address}, on this machine only.",
    ),
    "use_llama_measured": Sentence(
        "It runs as Gram measures: for one conversation at a time (-np 1), with nothing kept of "
        "earlier ones (--cache-ram 0), and nothing fitted by itself (--fit off).",
        "If it does not know an option, it is older: update llama.cpp.",
    ),
    "use_llama_split": Sentence(
        "The build is in {count} files: the first is named, and the others must lie beside it.",
    ),
    "use_ollama_modelfile": Sentence(
        "Save this text as a file called {file}, in the folder where you run the command.",
    ),
    "use_ollama_kept": Sentence(
        "Ollama keeps the build already, as {name}: the new name adds the settings and no copy.",
    ),
    "use_ollama_copy": Sentence(
        "Ollama copies the build into its own store: {size_bytes} more of the disk.",
    ),
    "use_ollama_download": Sentence(
        "`{command}` runs it too, without these settings, but downloads it again: {size_bytes}.",
    ),
    "use_ollama_split": Sentence(
        "Ollama takes builds in several files from version 0.35 on.",
        "With an older one, join them first: `llama-gguf-split --merge`.",
    ),
    "use_ollama_service": Sentence(
        "Flash attention, the KV cache's type and how many conversations run at a time are set "
        "for Ollama's whole service: they are as measured while OLLAMA_FLASH_ATTENTION, "
        "OLLAMA_KV_CACHE_TYPE and OLLAMA_NUM_PARALLEL are not set.",
    ),
    "use_ollama_experts": Sentence(
        "Ollama cannot be told to leave the experts of {layers} layers to the processor. It "
        "places the layers itself, so the speed may be another.",
    ),
    "use_ollama_cards": Sentence(
        "Which cards Ollama uses is set for its whole service, by CUDA_VISIBLE_DEVICES or "
        "ROCR_VISIBLE_DEVICES.",
    ),
    "use_ollama_name": Sentence(
        "Ollama cannot take a file of this name: its Modelfile holds no signs that are not shown, "
        "and its store no colons and backslashes.",
        "Give it a plain name, or a link with one, and use that.",
    ),
    "use_lms_link": Sentence(
        "LM Studio gets a link and no copy, so the build must stay where it is. It is linked "
        "once; later only `lms load` is needed.",
        "If it is in Gram's own folder, pin it: it is then never removed to make room.",
    ),
    "use_lms_hard_link": Sentence(
        "LM Studio gets a hard link and no copy. That works only if its models are on the same "
        "drive; a copy takes {size_bytes} more. It is linked once; later only `lms load` is "
        "needed.",
    ),
    "use_lms_folder": Sentence(
        "LM Studio takes only names that end in .gguf, so the build gets one in its usual folder "
        "of models.",
        "If My Models in LM Studio shows another folder, use that one.",
    ),
    "use_lms_settings": Sentence(
        "What the command cannot set is set in LM Studio, in My Models, under the gear of the "
        "build; `lms load` keeps to it.",
    ),
    "use_lms_threads": Sentence("CPU Thread Pool Size: {threads}."),
    "use_lms_parallel": Sentence("Max Concurrent Predictions: 1."),
    "use_lms_layers": Sentence("GPU Offload: {layers} layers."),
    "use_lms_experts": Sentence(
        "Number of layers for which to force MoE weights onto CPU: {layers}.",
    ),
    "use_lms_cards": Sentence(
        "Cards are switched on and off in LM Studio's own settings, under Hardware; here it is "
        "{devices}.",
    ),
    "use_lms_list": Sentence(
        "Choose it from the list that LM Studio shows.",
        "If it is not there, it lies where LM Studio does not look: it takes "
        "publisher/model/file.gguf below its folder of models.",
    ),
    "use_lms_choose": Sentence(
        "If LM Studio does not find it by that path, leave out the path and --exact, and choose "
        "it from the list.",
    ),
}
