r"""DGPN as it is printed and as its authors published it: where they differ is a setting.

=============== ==================================== =============================================
setting         in print                             in the published code
=============== ==================================== =============================================
local           "sum" over hops (Eq. 18)             "mean" over hops
negatives       "seen": the classes that both        "all": classes without a label as well
                softmaxes run over (Eq. 18, 20)
weigh           "latent": hops are weighed after     "input": before,
                psi, :math:`z = \sum_k               :math:`h^{(k)} = \psi(\omega_k \bar x^{(k)})`,
                \omega_k h^{(k)}` (Eq. 19)           :math:`z = \sum_k h^{(k)}`
drop_prediction False                                True: dropout on :math:`\phi_{com}(z)`, too
=============== ==================================== =============================================

`DGPN.variant("paper")` takes the first column, `DGPN.variant("official")` the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unseen.core.errors import InputError

if TYPE_CHECKING:
    from unseen.models.base import Model

CHOICES = {
    "start": ("auto", "identity", "xavier"),
    "negatives": ("seen", "all"),
    "weigh": ("latent", "input"),
    "similarity": ("inner", "cosine"),
    "local": ("mean", "sum"),
}
PRINTED: dict[str, Any] = {  # where the print is silent: what the published code does
    "start": "xavier",
    "epochs": 1000,
    "negatives": "seen",
    "weigh": "latent",
    "local": "sum",
    "similarity": "inner",
}
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": PRINTED,
    "official": PRINTED
    | {"negatives": "all", "weigh": "input", "local": "mean", "drop_prediction": True},
}


def check_choices(model: Model) -> None:
    """Refuse a setting that is none of its choices."""
    for name, allowed in CHOICES.items():
        found = getattr(model, name)
        if found not in allowed:
            raise InputError(f"{name}: expected one of {allowed}, found {found!r}")
