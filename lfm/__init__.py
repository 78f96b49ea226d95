"""Latent feature models X ≈ ZW with binary Z: estimators, every equivalent solution, and the hopper.

`__init__.pyi` lists the public names, once for type checkers and for the loader below. A name is imported
when it is first used, so that `import lfm` does not wait for scikit-learn and numba.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
