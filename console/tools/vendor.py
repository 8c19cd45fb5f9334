"""Copies the front-end libraries of ``package.json`` into the project, with their hashes and licences.

``python -m console.tools.vendor`` fetches them with npm and writes the files and ``MANIFEST.json``. They are committed,
so that neither an installation nor a browser fetches anything; a test compares the files with the manifest.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

CONSOLE = Path(__file__).resolve().parents[1]
VENDOR = CONSOLE / "static" / "vendor"
TEST_VENDOR = CONSOLE.parent / "tests" / "console" / "vendor"

_ICONS = """
activity adjustments alert-circle alert-triangle api ban bolt book calendar-event chart-bar
chart-line check chevron-down chevron-left chevron-right chevron-up circle-check circle-dashed
circle-x clipboard-list clock code copy crown dashboard database device-desktop dots dots-vertical
download edit external-link eye file-text filter grid-dots hand-stop heart-rate-monitor history
info-circle key keyboard language layout-grid list list-check lock login logout menu-2 minus moon
player-pause player-play player-skip-forward player-stop plug plug-connected-x plus refresh repeat
rotate-clockwise search server server-2 server-off settings shield shield-check shield-lock stack-2
sun tag toggle-left trash upload user user-circle user-plus users wand world x zzz arrow-back-up
arrow-right arrows-exchange arrows-sort arrow-up arrow-down
"""
ICONS = _ICONS.split()
"""Names of the outlined icons of Tabler that templates may use."""

FILES = {
    "htmx/htmx.min.js": "htmx.org/dist/htmx.min.js",
    "htmx/hx-ptag.min.js": "htmx.org/dist/ext/hx-ptag.min.js",
    "htmx/LICENSE": "htmx.org/LICENSE",
    "tabler/tabler.min.css": "@tabler/core/dist/css/tabler.min.css",
    "tabler/LICENSE": "@tabler/icons/LICENSE",  # of the same authors; the package of the styles has none of its own
    "uplot/uPlot.iife.min.js": "uplot/dist/uPlot.iife.min.js",
    "uplot/uPlot.min.css": "uplot/dist/uPlot.min.css",
    "uplot/LICENSE": "uplot/LICENSE",
    "swagger/swagger-ui-bundle.js": "swagger-ui-dist/swagger-ui-bundle.js",
    "swagger/swagger-ui.css": "swagger-ui-dist/swagger-ui.css",
    "swagger/LICENSE": "swagger-ui-dist/LICENSE",
    "swagger/NOTICE": "swagger-ui-dist/NOTICE",
    "icons/LICENSE": "@tabler/icons/LICENSE",
    **{f"icons/{name}.svg": f"@tabler/icons/icons/outline/{name}.svg" for name in ICONS},
}
_MAP = re.compile(rb"(//|/\*)# sourceMappingURL=\S+( ?\*/)?")
TEST_FILES = {"axe.min.js": "axe-core/axe.min.js", "LICENSE": "axe-core/LICENSE"}


def main() -> None:
    """Fetch, copy, and write the manifests."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(CONSOLE / name, folder)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True)
        modules = Path(folder) / "node_modules"
        _copy(modules, FILES, VENDOR)
        _copy(modules, TEST_FILES, TEST_VENDOR)


def _copy(modules: Path, files: dict[str, str], target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    manifest = {}
    for name, source in sorted(files.items()):
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # Maps are not shipped, and a browser must not look for them.
        path.write_bytes(_MAP.sub(b"", (modules / source).read_bytes()).rstrip() + b"\n")
        parts = source.split("/")
        package = "/".join(parts[:2]) if source.startswith("@") else parts[0]
        version = json.loads((modules / package / "package.json").read_text())["version"]
        manifest[name] = {"from": f"{package}@{version}", "integrity": integrity(path)}
    (target / "MANIFEST.json").write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")


def integrity(path: Path) -> str:
    """Return a file's hash, as a browser would check it."""
    return "sha384-" + base64.b64encode(hashlib.sha384(path.read_bytes()).digest()).decode()


if __name__ == "__main__":
    main()
