/**
 * Everything that scripts can use in `yao-test`, for editors and the TypeScript compiler. `yao-test types` copies these
 * files into an application. They contain no code that runs.
 *
 * | file | declares |
 * | --- | --- |
 * | `testing.d.ts` | `t`, its assertions and mocks, set-up functions |
 * | `agent.d.ts` | `ctx`, what hooks are given and what they return |
 * | `yao.d.ts` | `Process`, `FS`, `http` and the other names of the Yao runtime, `@yao/runtime` |
 * | `platform.d.ts` | `console`, timers, `URL`, text encoding and other names known from browsers |
 *
 * A `tsconfig.json` for the root of the application:
 *
 * ```json
 * {
 *   "extends": "./types/yao-test/.tests/apart.json",
 *   "compilerOptions": {
 *     "target": "es2024",
 *     "lib": ["es2024"],
 *     "types": [],
 *     "module": "esnext",
 *     "moduleResolution": "bundler",
 *     "moduleDetection": "force",
 *     "strict": true,
 *     "noEmit": true,
 *     "paths": { "@scripts/*": ["./scripts/*"] }
 *   },
 *   "include": ["types/yao-test", "assistants", "scripts"],
 *   "references": [{ "path": "./types/yao-test/.tests" }]
 * }
 * ```
 *
 * - `"lib": ["es2024", "dom"]` compiles too, but then names that scripts do not have, such as `fetch`, seem to exist.
 * - `"types": []` excludes `@types/node`, because scripts do not have its names either. If you need it, set
 *   `"skipLibCheck": true`.
 * - `moduleDetection: "force"` makes each file a module, so that two agents may both have a function `Create`.
 * - A test file that uses the functions beside it without an import is in a separate project, below
 *   `types/yao-test/.tests`. `extends` excludes it from this project, and `references` tells editors where it is. `tsc
 *   --build` checks all of them.
 */

/// <reference path="./testing.d.ts" />
/// <reference path="./agent.d.ts" />
/// <reference path="./yao.d.ts" />
/// <reference path="./platform.d.ts" />
