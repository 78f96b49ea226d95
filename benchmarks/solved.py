"""What the product found, as watts in every row."""

import numpy as np

from nilm.disaggregate import Disaggregation


def power_of(found: Disaggregation) -> np.ndarray:
    """Watts (M, K) of every appliance in every row `found.row`."""
    power_w = getattr(found, "power_w", None)
    return found.solution.Z * found.watts if power_w is None else power_w
