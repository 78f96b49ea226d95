from pathlib import Path

import pytest

from nilm.experiments import source


def test_the_digest_follows_imports_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(module: str) -> str:
        source._source_digest.cache_clear()
        return source.source_digest(module)

    for room in source.ROOMS:
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text("")
    (tmp_path / "lfm" / "deep.py").write_text("x = 1")
    (tmp_path / "lfm" / "other.py").write_text("x = 1")
    (tmp_path / "nilm" / "middle.py").write_text("from lfm import deep\nimport numpy")
    (tmp_path / "nilm" / "top.py").write_text("from nilm.middle import f")
    monkeypatch.setattr(source, "_ROOT", tmp_path)
    first = version("nilm.top")
    assert version("nilm.top") == first
    (tmp_path / "lfm" / "other.py").write_text("x = 2")
    assert version("nilm.top") == first
    (tmp_path / "lfm" / "deep.py").write_text("x = 2")
    assert version("nilm.top") != first
    monkeypatch.undo()
    source._source_digest.cache_clear()
