#!/usr/bin/env python3
"""Writes the software bill of materials of one target in CycloneDX 1.5 to standard output. Needs Python 3.11 and cargo.

    .release/sbom.py TARGET >dist/gitlab-mcp-0.1.0-TARGET.cdx.json

Lists the crates that are compiled into the binary: no tests, no build scripts, no other targets.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    target = sys.argv[1]
    # `cargo tree` resolves the features of this build alone; `cargo metadata` has the licenses and the edges.
    tree = ["cargo", "tree", "--package", "gitlab-mcp", "--edges", "normal,no-proc-macro", "--prefix", "none"]
    compiled = {tuple(line.split()[:2]) for line in run([*tree, "--format", "{p}", "--target", target]).splitlines()}
    metadata = json.loads(run(["cargo", "metadata", "--format-version", "1", "--filter-platform", target]))
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {(package["name"], package["version"]): package.get("checksum") for package in locked}
    packages = {
        package["id"]: package
        for package in metadata["packages"]
        if (package["name"], f"v{package['version']}") in compiled
    }
    root = metadata["resolve"]["root"]
    edges = {
        node["id"]: [
            dependency["pkg"]
            for dependency in node["deps"]
            if dependency["pkg"] in packages and any(kind["kind"] is None for kind in dependency["dep_kinds"])
        ]
        for node in metadata["resolve"]["nodes"]
        if node["id"] in packages
    }

    def reference(identifier: str) -> str:
        package = packages[identifier]
        return f"pkg:cargo/{package['name']}@{package['version']}"

    def component(identifier: str) -> dict:
        package = packages[identifier]
        entry = {
            "type": "application" if identifier == root else "library",
            "bom-ref": reference(identifier),
            "name": package["name"],
            "version": package["version"],
            "purl": reference(identifier),
        }
        if package["license"]:
            entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        if checksum := checksums.get((package["name"], package["version"])):
            entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return entry

    others = sorted(set(packages) - {root}, key=reference)
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": component(root),
            "properties": [{"name": "cargo:target", "value": target}],
        },
        "components": [component(identifier) for identifier in others],
        "dependencies": [
            {"ref": reference(identifier), "dependsOn": sorted(reference(other) for other in edges[identifier])}
            for identifier in sorted(packages, key=reference)
        ],
    }
    json.dump(bill, sys.stdout, indent=1)
    print()
    return 0


def run(command: list[str]) -> str:
    return subprocess.run([*command, "--locked"], cwd=ROOT, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
