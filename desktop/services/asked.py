"""What a file's header asks of this machine."""

from desktop.estimate.header_model import model_of
from desktop.estimate.sizes import from_header
from desktop.estimate.token_work import Asked
from desktop.records.build import Header
from desktop.records.model import Quant
from desktop.services import estimate_tables


def asked_of(header: Header, quantization: str | None, sha256: str) -> Asked:
    """A build by its own header, its tensors to the byte.

    Args:
        header: of all its files.
        quantization: as the header or its name tells; what no table has is shown as another, and
            counted by its own tensors all the same.
        sha256: its own runs say most of it.

    Raises:
        GramError: `architecture_unknown`, `header_lacks`, `header_absurd`, `mixture_unclear`.
    """
    quant = quant_of(quantization) or estimate_tables.quants()[0]
    return Asked(model_of(header), quant, from_header(header), sha256)


def quant_of(label: str | None) -> Quant | None:
    """The quantization of that label, `Q4_K_M`, in letters of either case; None: no table has it.

    Raises:
        GramError: `resource_damaged`.
    """
    folded = (label or "").casefold()
    return next(
        (q for q in estimate_tables.quants() if (q.file_type or "").casefold() == folded), None
    )
