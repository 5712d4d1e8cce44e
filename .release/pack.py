#!/usr/bin/env python3
"""Packs the binary of one platform for every channel, and completes a release. Needs Python 3.11.

    .release/pack.py binary TARGET FILE [--out dist]   archive, wheel, npm package, MCPB bundle, container context
    .release/pack.py finish [--out dist]               main npm package, plugin, server.json, formula, SHA256SUMS

The same inputs give the same bytes: names are sorted, and every time is SOURCE_DATE_EPOCH.
"""

import argparse
import base64
import csv
import gzip
import hashlib
import io
import json
import os
import re
import sys
import tarfile
import time
import tomllib
import zipfile
from pathlib import Path

RELEASE = Path(__file__).resolve().parent
ROOT = RELEASE.parent
CRATE = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]
PACKAGES = tomllib.loads((RELEASE / "packages.toml").read_text())
NAME, VERSION = CRATE["name"], CRATE["version"]
# Zip has no times before 1980.
EPOCH = max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315_532_800)
LEVEL = 9
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")

# Contents by path.
Files = dict[str, bytes]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = arguments.add_subparsers(dest="command", required=True)
    binary = commands.add_parser("binary")
    binary.add_argument("target")
    binary.add_argument("file", type=Path)
    finish = commands.add_parser("finish")
    for command in (binary, finish):
        command.add_argument("--out", type=Path, default=ROOT / "dist")
        command.add_argument("--level", type=int, default=9, help="of compression, 1 to 9")
    given = arguments.parse_args()
    global LEVEL
    LEVEL = given.level
    given.out.mkdir(parents=True, exist_ok=True)
    if given.command == "finish":
        return pack_rest(given.out)
    platforms = [platform for platform in PACKAGES["platform"] if platform["target"] == given.target]
    if not platforms:
        print(f"{given.target}: no platform of packages.toml has this target", file=sys.stderr)
        return 2
    pack_binary(platforms[0], given.file.read_bytes(), given.out)
    return 0


def pack_binary(platform: dict, binary: bytes, out: Path) -> None:
    program = NAME + (".exe" if platform["os"] == "win32" else "")
    texts = {name: (ROOT / name).read_bytes() for name in ("LICENSE", "README.md")}
    notice = (ROOT / "catalog/learned/NOTICE").read_bytes()

    folder = f"{NAME}-{VERSION}-{platform['target']}"
    archive = {f"{folder}/{program}": binary, f"{folder}/NOTICE": notice}
    archive |= {f"{folder}/{name}": text for name, text in texts.items()}
    if platform["os"] == "win32":
        write(out / f"{folder}.zip", zipped(archive))
    else:
        write(out / f"{folder}.tar.gz", tarred(archive))

    npm = (RELEASE / "npm" / platform["name"] / "package.json").read_bytes()
    npm_name = f"{PACKAGES['names']['npm']}-{platform['name']}"
    write(
        out / f"{npm_name}-{VERSION}.tgz",
        tarred(
            {
                "package/package.json": npm,
                f"package/bin/{program}": binary,
                "package/LICENSE": texts["LICENSE"],
                "package/NOTICE": notice,
            }
        ),
    )

    manifest = (RELEASE / "mcpb" / platform["name"] / "manifest.json").read_bytes()
    bundle = {"manifest.json": manifest, f"server/{program}": binary, "LICENSE": texts["LICENSE"], "NOTICE": notice}
    write(out / f"{NAME}-{VERSION}-{platform['name']}.mcpb", zipped(bundle))

    pack_wheel(platform, program, binary, texts | {"NOTICE": notice}, out)

    if platform["os"] == "linux":
        # The names of architectures that container builders use.
        place = out / "container" / {"x64": "amd64", "arm64": "arm64"}[platform["cpu"]]
        place.mkdir(parents=True, exist_ok=True)
        (place / NAME).write_bytes(binary)
        (place / NAME).chmod(0o755)
        (out / "container/LICENSE").write_bytes(texts["LICENSE"])
        (out / "container/NOTICE").write_bytes(notice)
        (out / "container/Containerfile").write_bytes((RELEASE / "container/Containerfile").read_bytes())
        if CERTIFICATES.is_file():
            (out / "container/ca-certificates.crt").write_bytes(CERTIFICATES.read_bytes())


def pack_wheel(platform: dict, program: str, binary: bytes, texts: Files, out: Path) -> None:
    """A wheel whose only content is the program, from the metadata of pyproject.toml."""
    project = tomllib.loads((RELEASE / "pypi/pyproject.toml").read_text())["project"]
    distribution = re.sub(r"[-_.]+", "_", project["name"]).lower()
    version = python_version(project["version"])
    info, data = f"{distribution}-{version}.dist-info", f"{distribution}-{version}.data"
    server = f"{PACKAGES['names']['namespace']}/{NAME}"
    fields = [("Metadata-Version", "2.4"), ("Name", project["name"]), ("Version", version)]
    fields += [("Summary", project["description"]), ("Keywords", ",".join(project["keywords"]))]
    fields += [("Classifier", classifier) for classifier in project["classifiers"]]
    fields += [("License-Expression", project["license"]), ("License-File", "LICENSE"), ("License-File", "NOTICE")]
    fields += [("Requires-Python", project["requires-python"])]
    fields += [("Project-URL", f"{label}, {url}") for label, url in project["urls"].items()]
    fields += [("Description-Content-Type", "text/markdown; charset=UTF-8")]
    metadata = "".join(f"{name}: {value}\n" for name, value in fields)
    # The MCP registry looks for this line to see that the package belongs to the server.
    description = texts["README.md"].decode() + f"\nmcp-name: {server}\n"
    tags = [f"py3-none-{tag}" for tag in platform["wheel"].split(".")]
    wheel = "Wheel-Version: 1.0\nGenerator: gitlab-mcp pack.py\nRoot-Is-Purelib: false\n"
    files = {
        f"{data}/scripts/{program}": binary,
        f"{info}/METADATA": f"{metadata}\n{description}".encode(),
        f"{info}/WHEEL": (wheel + "".join(f"Tag: {tag}\n" for tag in tags)).encode(),
        f"{info}/licenses/LICENSE": texts["LICENSE"],
        f"{info}/licenses/NOTICE": texts["NOTICE"],
    }
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.writerow([name, f"sha256={digest}", len(content)])
    rows.writerow([f"{info}/RECORD", "", ""])
    files[f"{info}/RECORD"] = record.getvalue().encode()
    write(out / f"{distribution}-{version}-py3-none-{platform['wheel']}.whl", zipped(files))


def python_version(version: str) -> str:
    """A version of Cargo as Python writes it: 1.0.0-rc.1 is 1.0.0rc1."""
    return re.sub(r"-(alpha|beta|rc)\.?(\d+)$", lambda found: found[1].replace("alpha", "a").replace("beta", "b") + found[2], version)


def pack_rest(out: Path) -> int:
    main_package = {
        "package/package.json": (RELEASE / "npm/main/package.json").read_bytes(),
        "package/bin/cli.js": (RELEASE / "npm/main/bin/cli.js").read_bytes(),
        "package/README.md": (ROOT / "README.md").read_bytes(),
        "package/LICENSE": (ROOT / "LICENSE").read_bytes(),
        "package/NOTICE": (ROOT / "catalog/learned/NOTICE").read_bytes(),
    }
    write(out / f"{PACKAGES['names']['npm']}-{VERSION}.tgz", tarred(main_package))
    plugin = RELEASE / "claude-code"
    files = {str(path.relative_to(plugin)): path.read_bytes() for path in plugin.rglob("*") if path.is_file()}
    write(out / f"{NAME}-{VERSION}-claude-code.zip", zipped(files))

    server = json.loads((RELEASE / "server.json").read_text())
    kept = []
    for package in server["packages"]:
        if package["registryType"] == "mcpb":
            bundle = out / package["identifier"].rsplit("/", 1)[1]
            if not bundle.is_file():
                print(f"{bundle.name} is not packed: left out of server.json", file=sys.stderr)
                continue
            package["fileSha256"] = sha256(bundle)
        kept.append(package)
    server["packages"] = kept
    (out / "server.json").write_text(json.dumps(server, indent=2) + "\n")

    formula = (RELEASE / "homebrew/gitlab-mcp.rb").read_text().split("\n", 1)[1]
    for target in re.findall(r'"sha256:([^"]+)"', formula):
        archive = out / f"{NAME}-{VERSION}-{target}.tar.gz"
        if archive.is_file():
            formula = formula.replace(f"sha256:{target}", sha256(archive))
        else:
            print(f"{archive.name} is not packed: no checksum in the formula", file=sys.stderr)
    (out / "gitlab-mcp.rb").write_text(formula)

    files = sorted(path for path in out.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    (out / "SHA256SUMS").write_text("".join(f"{sha256(path)}  {path.name}\n" for path in files))
    return 0


def is_executable(name: str) -> bool:
    return name.rsplit("/", 1)[-1] in (NAME, f"{NAME}.exe", "cli.js")


def tarred(files: Files) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(content), EPOCH
            entry.mode = 0o755 if is_executable(name) else 0o644
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), compresslevel=LEVEL, mtime=0)


def zipped(files: Files) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, time.gmtime(EPOCH)[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100755 if is_executable(name) else 0o100644) << 16
            archive.writestr(entry, content)
    return packed.getvalue()


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    print(f"{path.name}: {len(content):,} bytes")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
