"""Which type llama.cpp's quantizer gives a tensor in each kind of file: data, read as text.

A line: the file type, the type of all tensors that no rule names, and the rules of each role,
`role:conditions=TYPE`; the first whose conditions hold is taken. Roles and conditions are those of
`quant_mix`; `!` negates. Source: `llama_tensor_get_type_impl` of src/llama-quant.cpp, as of
llama-cpp-python 0.3.36.
"""

from typing import Final

MIXES: Final = """
F32     F32
F16     F16
BF16    BF16
Q4_0    Q4_0    head=Q6_K v:experts8=Q8_0 k:experts8=Q8_0 down:matrix+first8=Q4_1
Q4_1    Q4_1    head=Q6_K v:experts8=Q8_0 k:experts8=Q8_0
Q5_0    Q5_0    head=Q6_K v:experts8=Q8_0 k:experts8=Q8_0 down:matrix+first8=Q5_1
Q5_1    Q5_1    head=Q6_K v:experts8=Q8_0 k:experts8=Q8_0
Q8_0    Q8_0
Q2_K    Q2_K    head=Q6_K v:experts8=Q8_0 v:big=Q5_K v:gqa4=Q4_K v=Q3_K k:experts8=Q8_0
                down=Q3_K out:experts8=Q5_K out=Q3_K
Q2_K_S  Q2_K    head=Q6_K v:experts8=Q8_0 v:big+gqa4=Q5_K v:gqa4=Q4_K k:experts8=Q8_0
                down:first8=Q4_K
Q3_K_S  Q3_K    head=Q6_K v:experts8=Q8_0 v:big=Q5_K k:experts8=Q8_0 out:experts8=Q5_K
Q3_K_M  Q3_K    head=Q6_K v:experts8=Q8_0 v:v2=Q5_K v:big=Q5_K v=Q4_K k:experts8=Q8_0
                down:first16=Q5_K down=Q4_K out:experts8=Q5_K out=Q4_K
Q3_K_L  Q3_K    head=Q6_K v:experts8=Q8_0 v=Q5_K k:experts8=Q8_0 down=Q5_K out:!experts8=Q5_K
Q4_K_S  Q4_K    head=Q6_K v:experts8=Q8_0 v:v4=Q5_K v:big=Q5_K k:experts8=Q8_0
                down:first8=Q5_K out:experts8=Q5_K
Q4_K_M  Q4_K    head=Q6_K v:experts8=Q8_0 v:more=Q6_K v:big=Q5_K k:experts8=Q8_0
                down:more=Q6_K out:experts8=Q5_K
Q5_K_S  Q5_K    head=Q6_K v:experts8=Q8_0 k:experts8=Q8_0
Q5_K_M  Q5_K    head=Q6_K v:experts8=Q8_0 v:more=Q6_K k:experts8=Q8_0 down:more=Q6_K
Q6_K    Q6_K    head=Q6_K v:experts8=Q8_0 k:experts8=Q8_0
IQ1_S   IQ1_S   head=Q5_K look=Q2_K v:gqa4=Q4_K v:experts4=Q4_K v=Q2_K k:experts8=Q4_K
                down:counted8=Q2_K out:experts8=Q5_K out=IQ2_XXS
IQ1_M   IQ1_M   head=Q5_K look=Q2_K v:gqa4=Q4_K v:experts4=Q4_K v=Q2_K k:experts8=Q4_K
                down:counted8=Q2_K out:experts8=Q5_K out=IQ2_XXS
IQ2_XXS IQ2_XXS head=Q5_K look=Q2_K v:gqa4=Q4_K v:experts4=Q4_K v=Q2_K k:experts8=Q4_K
                down:counted8=Q2_K out:experts8=Q5_K
IQ2_XS  IQ2_XS  head=Q5_K look=Q2_K v:gqa4=Q4_K v:experts4=Q4_K v=Q2_K k:experts8=Q4_K
                down:counted8=Q2_K out:experts8=Q5_K
IQ2_S   IQ2_XS  head=Q5_K look=IQ3_S v:gqa4=Q4_K v:experts4=Q4_K v=IQ3_S k:experts8=Q4_K
                down:counted8=IQ3_S out:experts8=Q5_K out=IQ3_S
IQ2_M   IQ2_S   head=Q5_K look=IQ3_S v:gqa4=Q4_K v:experts4=Q4_K v=IQ3_S k:experts8=Q4_K
                down:counted8=IQ3_S out:experts8=Q5_K out=IQ3_S
IQ3_XXS IQ3_XXS head=Q5_K look=IQ3_S v:experts8=Q8_0 v:big+gqa4=Q5_K v:gqa4=Q4_K v:!matrix=IQ3_S
                k:experts8=Q8_0 k=IQ2_S q=IQ2_S down:!matrix+first8=Q4_K down:!matrix=Q3_K
                out:experts8=Q5_K out=IQ3_S
IQ3_XS  IQ3_S   head=Q6_K v:experts8=Q8_0 v:big+gqa4=Q5_K v:gqa4=Q4_K k:experts8=Q8_0 k=IQ3_XXS
                q=IQ3_XXS gate:middle=IQ3_XXS up:middle=IQ3_XXS out:experts8=Q5_K
IQ3_S   IQ3_S   head=Q6_K v:experts8=Q8_0 v:big+gqa4=Q5_K v:gqa4=Q4_K k:experts8=Q8_0
                out:experts8=Q5_K
IQ3_M   IQ3_S   head=Q6_K v:experts8=Q8_0 v:big=Q5_K v=Q4_K k:experts8=Q8_0 down:first8=Q4_K
                down:experts8+more=Q4_K out:experts8=Q5_K out=Q4_K
IQ4_NL  IQ4_NL  head=Q6_K v:experts8=Q8_0 v:gqa4=Q5_K k:experts8=Q8_0 down:first8+!matrix=Q5_K
                out:experts8=Q5_K
IQ4_XS  IQ4_XS  head=Q6_K v:experts8=Q8_0 v:gqa4=Q5_K k:experts8=Q8_0 down:first8+!matrix=Q5_K
                out:experts8=Q5_K
TQ1_0   TQ1_0   head=Q6_K look=Q4_K v:experts8=Q8_0 k:experts8=Q8_0
TQ2_0   TQ2_0   head=Q6_K look=Q4_K v:experts8=Q8_0 k:experts8=Q8_0
MXFP4_MOE MXFP4 head=Q8_0 look=Q8_0 v:stacked=MXFP4 v=Q8_0 k:stacked=MXFP4 k=Q8_0
                q:stacked=MXFP4 q=Q8_0 out:stacked=MXFP4 out=Q8_0 up:stacked=MXFP4 up=Q8_0
                gate:stacked=MXFP4 gate=Q8_0 down:stacked=MXFP4 down=Q8_0
                other:stacked=MXFP4 other=Q8_0
"""

FALLBACKS: Final = {
    **dict.fromkeys(
        ("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_XS"), "IQ4_NL"
    ),
    **dict.fromkeys(("Q2_K", "Q3_K", "TQ1_0", "TQ2_0"), "Q4_0"),
    "Q4_K": "Q5_0",
    "Q5_K": "Q5_1",
    "Q6_K": "Q8_0",
}
"""What takes the place of a type whose blocks of 256 do not fill a row."""

NEED_MATRIX: Final = frozenset(
    {"IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ2_M", "IQ3_XXS", "IQ3_XS", "Q2_K_S"}
)
"""File types that cannot be made without an importance matrix."""

ALWAYS_F32: Final = (
    "_norm.weight", "ffn_gate_inp.weight", "ffn_gate_inp_shexp.weight", "position_embd.weight",
    "token_types.weight", "ssm_conv1d", "shortconv.conv.weight", "altup_correct_coef.weight",
    "altup_predict_coef.weight",
)  # fmt: skip
"""Tensors with one of these in their name are F32 in every file: the converter (conversion/base.py)
writes them so and the quantizer leaves them. So are those of one dimension, and those whose name
does not end in `weight`."""
WHOLE: Final = ("altup", "laurel", "per_layer_model_proj")
"""Tensors with one of these in their name are not quantized, but stay as the converter wrote them:
F16 or BF16."""
