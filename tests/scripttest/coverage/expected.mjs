/**
 * Makes `expected.json` from the files of `corpus/`: what Istanbul counts in them when all of them have been loaded.
 *
 *     npm install --prefix FOLDER istanbul-lib-instrument@6.0.3 esbuild@0.28.2
 *     node tests/scripttest/coverage/expected.mjs FOLDER
 *
 * Istanbul puts its counters into the TypeScript; esbuild then makes JavaScript of it. A file is written as
 * `{statements, functions, branches}`, each a list in the order of the source: `"2:4-2:9 1"` is a place and how often it
 * ran, and a branch has a number for each arm, of which `"?"` is one that is not written.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(join(resolve(process.argv[2]), "package.json"));
const { createInstrumenter } = require("istanbul-lib-instrument");
const esbuild = require("esbuild");

const here = dirname(fileURLToPath(import.meta.url));
const corpus = join(here, "corpus");
const names = readdirSync(corpus).sort();
const plugins = ["decoratorAutoAccessors", "explicitResourceManagement", "deferredImportEvaluation"];

function instrumented(path) {
  const suffix = extname(path);
  const languages = suffix === ".js" ? [] : suffix === ".tsx" ? ["typescript", "jsx"] : ["typescript"];
  let failure;
  for (const decorators of ["decorators-legacy", "decorators"]) {
    const options = { esModules: true, compact: false, parserPlugins: [...plugins, ...languages, decorators] };
    try {
      return createInstrumenter(options).instrumentSync(readFileSync(path, "utf8"), path);
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

const istanbul = {
  name: "istanbul",
  setup(build) {
    build.onLoad({ filter: /\/corpus\// }, ({ path }) => ({
      contents: instrumented(path),
      loader: extname(path).slice(1),
    }));
  },
};
const built = await esbuild.build({
  stdin: { contents: names.map((name) => `import "./corpus/${name}";\n`).join(""), resolveDir: here },
  bundle: true,
  write: false,
  format: "iife",
  target: "es2022",
  logLevel: "error",
  tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
  plugins: [istanbul],
});
(0, eval)(built.outputFiles[0].text);
await new Promise((resolve) => setTimeout(resolve, 100));

const at = ({ line, column }) => `${line}:${column}`;
const place = ({ start, end }) => (start.line === undefined ? "?" : `${at(start)}-${at(end)}`);
const inOrder = (map, counts, text) =>
  Object.keys(map)
    .sort((a, b) => {
      const [x, y] = [a, b].map((key) => (map[key].loc ?? map[key]).start);
      return x.line - y.line || x.column - y.column || Number(a) - Number(b);
    })
    .map((key) => text(map[key], counts[key]));

const expected = {};
for (const name of names) {
  const file = globalThis.__coverage__[join(corpus, name)];
  if (file === undefined || Object.keys(file.statementMap).length === 0) continue;
  const arms = ({ locations }, counts) => counts.map((count, arm) => `${place(locations[arm])} ${count}`).join(", ");
  expected[name] = {
    statements: inOrder(file.statementMap, file.s, (where, count) => `${place(where)} ${count}`),
    functions: inOrder(file.fnMap, file.f, ({ loc }, count) => `${place(loc)} ${count}`),
    branches: inOrder(file.branchMap, file.b, (branch, counts) => `${branch.type} ${arms(branch, counts)}`),
  };
}
writeFileSync(join(here, "expected.json"), `${JSON.stringify(expected, null, 1)}\n`);
console.log(`${Object.keys(expected).length} of ${names.length} files have something to count`);
