"""What may be asked for by name: the one list of estimators, priors and formats. Light to import."""

from typing import Any

import lfm

# The name of an estimator → its class in lfm, which is imported when it is first asked for.
_CLASSES = {
    "switching": "SwitchingDecoder",
    "latent-lasso": "LatentLasso",
    "meibp": "MEIBP",
    "kfeatures": "KFeatures",
    "binary-decoder": "BinaryDecoder",
}
SHAPES = "shapes"  # features with amplitudes; the others explain every row by what is on or off
ESTIMATORS = ("auto", SHAPES, *_CLASSES)
MUSIC_ESTIMATORS = ("latent-lasso", "meibp")
PRIORS = ("house", "paper")
FORMATS = ("nilmtk", "csv", "home-assistant")  # of an export


def estimator_class(name: str) -> Any:
    """The class of the estimator of that name."""
    return getattr(lfm, _CLASSES[name])
