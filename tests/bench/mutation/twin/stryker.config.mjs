/** `RUNNER=mocha` or `RUNNER=vitest`; what both tools can do is the same: each mutant runs the tests that reach it. */
const runner = process.env.RUNNER;
export default {
  testRunner: runner,
  plugins: [`@stryker-mutator/${runner}-runner`],
  mutate: ["src/*.ts", "!src/*_test.ts"],
  coverageAnalysis: "perTest",
  reporters: ["json"],
  jsonReporter: { fileName: `${runner}.json` },
  concurrency: 2,
  allowConsoleColors: false,
  checkers: [],
  ...(runner === "mocha"
    ? { mochaOptions: { spec: ["spec.mocha.ts"], require: ["tsx"] } }
    : { vitest: { configFile: "vitest.config.mjs" } }),
};
