import subprocess
import sys

import pytest

import lfm


def test_the_package_alone_imports_no_library_that_takes_long() -> None:
    code = "import lfm, sys; print(*{'numba', 'scipy', 'sklearn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_every_public_name_is_there_and_no_other() -> None:
    for name in lfm.__all__:
        assert getattr(lfm, name) is not None
    assert set(lfm.__all__) <= set(dir(lfm))
    with pytest.raises(AttributeError, match="no_such_name"):
        lfm.no_such_name  # noqa: B018
