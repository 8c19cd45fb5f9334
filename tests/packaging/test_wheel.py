"""What is built can be installed and shown elsewhere."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

from tests.packaging.source import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def test_wheel_has_the_packages_their_types_and_the_examples(tmp_path: Path) -> None:
    """The demo and the console work from an installed package, and tests stay out of it."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    wanted = {
        "shardsched/__main__.py",
        "shardsched/py.typed",
        "shardsched/demo/show.py",
        "shardsched/history/migrations/env.py",
        "shardsched/history/migrations/versions/v0003_days.py",
        "examples/pydoc_crawl.py",
        "examples/quickstart.py",
        "console/__init__.py",
        "console/static/vendor/MANIFEST.json",
        "console/templates/ui.html",
        "console/translations/zh_Hans/LC_MESSAGES/messages.mo",
        "shardsched/history/migrations/versions/v0002_people.py",
    }
    assert wanted <= set(names)
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"shardsched", "examples", "console"}
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
