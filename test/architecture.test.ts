import { dirname } from "node:path";

import { describe, expect, test } from "vitest";

import { noImportCycles } from "./rules/cycles.ts";
import {
  housePage,
  packagesKeepTheirInsides,
  packagesPointDown,
  roomsAreOnThePage,
  roomsPointDown,
  strictServersStandAlone,
} from "./rules/layers.ts";
import { propertiesKeepTheSeed } from "./rules/properties.ts";
import { machineHasNoAny, machineHoldsNoState, machineIsPure, nothingOfNodeBelowTheRuntimes } from "./rules/purity.ts";
import { examplesAreRun, sourcesAreReached } from "./rules/reach.ts";
import {
  fileLinesMax,
  filesAreNamed,
  filesAreShort,
  functionLinesMax,
  functionsAreShort,
  filesAreWhole,
  fileLinesMin,
} from "./rules/size.ts";
import { type Rule, type Source, sourcesIn } from "./rules/source.ts";

const root = dirname(import.meta.dirname);

const repository: readonly Source[] = sourcesIn(root, [
  "packages/*/{src,test}/**/*.ts",
  "{examples,scripts,proof,bench,test}/**/*.ts",
  "{packages/*,examples}/package.json",
  housePage,
]);

const manifest = (
  folder: string,
  name: string,
  exports: Readonly<Record<string, string>> = { ".": "./src/index.ts" },
): Source => ({
  path: `${folder}/package.json`,
  text: JSON.stringify({ name, exports }),
});

const manifests: readonly Source[] = ["machine", "host", "runtime-node", "runtime-test", "interchange", "cli"].map(
  (name) => manifest(`packages/${name}`, `@colloquy/${name}`),
);

const file = (path: string, ...lines: readonly string[]): Source => ({ path, text: lines.join("\n") });

/** Returns a page with the real packages and one house with these rooms. */
const page = (...rooms: readonly string[]): Source =>
  file(
    housePage,
    "## Packages",
    "| `machine` | Pure. | |",
    "| `interchange` | Formats. | `machine` |",
    "| `host` | The loop. | `machine` |",
    "| `runtime-node` | For Node. | `machine`, `host` |",
    "| `runtime-test` | For tests. | `machine`, `host` |",
    "| `cli` | The command. | `machine`, `host`, `runtime-node`, `interchange` |",
    "## packages/machine",
    ...rooms,
  );

const inMachine = (...lines: readonly string[]): Source => file("packages/machine/src/thread/bad.ts", ...lines);

const repeated = (line: string, times: number): readonly string[] => Array<string>(times).fill(line);

/** Files of which a rule objects to exactly these places. */
interface Sample {
  readonly sources: readonly Source[];
  readonly finds: readonly RegExp[];
}

const sample = (finds: readonly RegExp[], ...sources: readonly Source[]): Sample => ({ sources, finds });

/** A rule and samples that break it. */
interface Case {
  readonly name: string;
  readonly rule: Rule;
  readonly samples: readonly Sample[];
}

const broken = (name: string, rule: Rule, ...samples: readonly Sample[]): Case => ({ name, rule, samples });

const cases: readonly Case[] = [
  broken(
    "packages import only packages below them",
    packagesPointDown,
    sample(
      [/^packages\/machine\/src\/index\.ts:1 .*must not import @colloquy\/host/],
      ...manifests,
      page(),
      file("packages/machine/src/index.ts", 'import type { Host } from "@colloquy/host";'),
      file("packages/host/src/index.ts", 'import { start } from "@colloquy/machine";'),
    ),
    sample(
      [/runtime-node\/src\/index\.ts:2 /, /runtime-test\/src\/index\.ts:1 /, /cli\/src\/index\.ts:1 /],
      ...manifests,
      page(),
      file("packages/runtime-node/src/index.ts", "", 'export * from "@colloquy/runtime-test/models";'),
      file("packages/runtime-test/src/index.ts", 'const node = await import("@colloquy/runtime-node");'),
      file("packages/cli/src/index.ts", 'import "@colloquy/runtime-test";'),
    ),
    sample(
      [/interchange\/src\/index\.ts:2 /, /runtime-node\/src\/index\.ts:1 /, /host\/src\/index\.ts:1 /],
      ...manifests,
      page(),
      file("packages/interchange/src/index.ts", 'import "@colloquy/machine";', 'import "@colloquy/host";'),
      file("packages/runtime-node/src/index.ts", 'import "@colloquy/interchange";'),
      file("packages/host/src/index.ts", 'const interchange = await import("@colloquy/interchange");'),
      file("packages/cli/src/index.ts", 'import "@colloquy/interchange";'),
    ),
  ),
  broken(
    "packages keep their insides to themselves",
    packagesKeepTheirInsides,
    sample(
      [
        /loop\.ts:1 .*reaches into packages\/machine: import an entry point of @colloquy\/machine instead/,
        /proof\/crash\/main\.ts:1 .*reaches into/,
        /examples\/chat\.ts:1 .*reaches into/,
      ],
      ...manifests,
      file("packages/host/src/loop.ts", 'import { at } from "../../machine/src/thread/chunks.ts";'),
      file("proof/crash/main.ts", 'import { at } from "../../packages/machine/src/index.ts";'),
      file("examples/chat.ts", 'import { at } from "@colloquy/machine/thread/chunks";'),
      file("packages/host/test/loop.test.ts", 'import { at } from "../../machine/src/thread/chunks.ts";'),
    ),
  ),
  broken(
    "rooms import only the rooms that the page lets them",
    roomsPointDown,
    sample(
      [/thread must not import journal/, /thread must not import the door/],
      page("| `thread` | Said. | |", "| `journal` | Stored. | `thread` |"),
      file("packages/machine/src/thread/turn.ts", 'import type { Entry } from "../journal/entry.ts";'),
      file("packages/machine/src/thread/chunks.ts", 'import { all } from "../index.ts";'),
      file("packages/machine/src/journal/fold.ts", 'import { at } from "../thread/chunks.ts";'),
      file("packages/machine/src/index.ts", 'export * from "./journal/fold.ts";'),
    ),
  ),
  broken(
    "the page has a row for each room, and its arrows lead nowhere back",
    roomsAreOnThePage,
    sample(
      [
        /packages\/host has no section/,
        /"extras" has no row/,
        /there is no room "cellar"/,
        /"thread" has no sentence/,
        /the arrows of "thread" lead back/,
        /"journal" imports "attic", which is no room/,
        /the arrows of "journal" lead back/,
      ],
      manifest("packages/host", "@colloquy/host"),
      page("| `thread` | Said | `journal` |", "| `journal` | Stored. | `thread`, `attic` |", "| `cellar` | None. | |"),
      file("packages/machine/src/thread/turn.ts"),
      file("packages/machine/src/journal/fold.ts"),
      file("packages/machine/src/extras/more.ts"),
    ),
  ),
  broken(
    "strict servers know nothing of the dialects that they judge",
    strictServersStandAlone,
    sample(
      [/groq\.ts:2 .*stands alone/, /groq\.ts:3 /, /groq\.ts:4 /],
      file(
        "packages/runtime-test/src/server/strict/families/groq.ts",
        'import { rule } from "../rules/rule.ts";',
        'import { groq } from "@colloquy/runtime-node/openai";',
        'import { groq } from "../../../../../runtime-node/src/llm/wire/dialects.ts";',
        'import { invalidRequest } from "../../wire-error.ts";',
      ),
    ),
  ),
  broken(
    "no import cycles, of types neither",
    noImportCycles,
    sample(
      [
        /^packages\/cli\/src\/a\.ts → .*b\.ts → .*c\.ts → packages\/cli\/src\/a\.ts/,
        /^packages\/cli\/src\/d\.ts → .*e\.ts → packages\/cli\/src\/d\.ts/,
      ],
      file("packages/cli/src/a.ts", 'import { b } from "./b.ts";'),
      file("packages/cli/src/b.ts", 'import { type c } from "./c.ts";'),
      file("packages/cli/src/c.ts", 'export * from "./a.ts";'),
      file("packages/cli/src/d.ts", 'import type { e } from "./e.ts";'),
      file("packages/cli/src/e.ts", 'import { d } from "./d.ts";'),
    ),
    sample(
      [/machine\/src\/index\.ts → .*host\/src\/index\.ts/],
      ...manifests,
      file("packages/machine/src/index.ts", 'import "@colloquy/host";'),
      file("packages/host/src/index.ts", 'import "@colloquy/machine";'),
    ),
  ),
  broken(
    "machine and host import nothing of Node",
    nothingOfNodeBelowTheRuntimes,
    sample(
      [/path is Node's/, /node:fs is Node's/],
      inMachine('import { join } from "path";'),
      file("packages/host/src/store.ts", 'export type { Stats } from "node:fs";'),
      file("packages/runtime-node/src/store.ts", 'import { open } from "node:fs/promises";'),
    ),
  ),
  broken(
    "the machine is pure",
    machineIsPure,
    ...[
      "Date.now()",
      "new Date()",
      "Math.random()",
      "process.env",
      "setTimeout(stop, 1)",
      "fetch(url)",
      "console.log(1)",
    ].map((code) => sample([/bad\.ts:2: /], inMachine("export const bad = (): unknown =>", `  ${code};`))),
    ...[
      "crypto.randomUUID()",
      "performance.now()",
      "globalThis.x",
      "a.localeCompare(b)",
      "{ console }",
      "Intl.Collator",
    ].map((code) => sample([/bad\.ts:1: /], inMachine(`export const bad = (): unknown => (${code});`))),
    sample([], inMachine("export interface Good { process: string }", "export const good = (it: Good) => it.process;")),
  ),
  broken(
    "the machine holds no state beside its functions",
    machineHoldsNoState,
    ...["let count = 0;", "var count = 0;", "const seen = new Map();", "export const all = { a: [new Set([1])] };"].map(
      (code) => sample([/bad\.ts:1: a module-level /], inMachine(code)),
    ),
    sample(
      [/:1: /],
      inMachine("const seen = new WeakMap();", "export const good = () => { let i = 0; return new Set([i]); };"),
    ),
    sample([/:2: /], inMachine("class One { readonly #own = new Map(); static readonly shared =", "new Map(); }")),
  ),
  broken(
    "the machine has no any",
    machineHasNoAny,
    sample([/bad\.ts:2: any/], inMachine("export const any = (it: unknown) => it as", "any[];")),
  ),
  broken(
    `files have at most ${fileLinesMax} lines`,
    filesAreShort,
    sample(
      [/long\.ts: 401 lines, at most 400/],
      file("packages/host/src/long.ts", ...repeated("// a line", fileLinesMax + 1)),
      file("packages/host/src/short.ts", ...repeated("// a line", fileLinesMax), ""),
    ),
  ),
  broken(
    `files have ${fileLinesMin} lines or more, or a reason`,
    filesAreWhole,
    sample(
      [/fragment\.ts: fewer than 12 lines/],
      file("packages/host/src/loop/fragment.ts", ...repeated("// a line", fileLinesMin - 1)),
      file("proof/kit/whole.ts", ...repeated("// a line", fileLinesMin)),
      file("packages/host/src/ports/clock.ts", "export interface Clock {}"),
    ),
    sample(
      [/once\.ts: fewer than 60 lines, and only .*one\.ts imports it/],
      file("packages/host/src/loop/once.ts", ...repeated("// a line", fileLinesMin)),
      file("packages/host/src/loop/twice.ts", ...repeated("// a line", fileLinesMin)),
      file(
        "packages/host/src/loop/one.ts",
        'import "./once.ts";',
        'import "./twice.ts";',
        ...repeated("// a line", 60),
      ),
      file("packages/host/src/loop/other.ts", 'import "./twice.ts";', ...repeated("// a line", 60)),
    ),
  ),
  broken(
    `functions have at most ${functionLinesMax} lines`,
    functionsAreShort,
    sample(
      [/^scripts\/long\.ts:2: long has 71 lines/],
      file("scripts/long.ts", "", "export const long = () => {", ...repeated("  void 0;", functionLinesMax - 1), "};"),
      file("scripts/short.ts", "export function short() {", ...repeated("  void 0;", functionLinesMax - 2), "}"),
    ),
  ),
  broken(
    "files are named after what is in them",
    filesAreNamed,
    sample(
      [/utils\.ts/, /helpers\/x\.ts/, /test\/helpers\.ts/],
      file("packages/host/src/utils.ts"),
      file("packages/cli/src/helpers/x.ts"),
      file("packages/cli/test/helpers.ts"),
      file("packages/cli/src/screen.ts"),
    ),
  ),
  broken(
    "every source is reached from an entry point",
    sourcesAreReached,
    sample(
      [/^packages\/host\/src\/dead\.ts: /],
      manifest("packages/host", "@colloquy/host", { ".": "./src/index.ts", "./store": "./src/store/index.ts" }),
      file("packages/host/src/index.ts", 'export * from "./loop.ts";'),
      file("packages/host/src/loop.ts", 'import type { Mail } from "./mail.ts";'),
      file("packages/host/src/mail.ts"),
      file("packages/host/src/store/index.ts"),
      file("packages/host/src/dead.ts", 'import { loop } from "./loop.ts";'),
    ),
  ),
  broken(
    "properties keep the seed of the run",
    propertiesKeepTheSeed,
    sample(
      [
        /bad\.test\.ts:1 a seed/,
        /:2 a seed/,
        /:3 a seed/,
        /:4 Math\.random/,
        /:1 configure/,
        /:2 resetConf/,
        /:3 install/,
      ],
      file(
        "packages/host/test/bad.test.ts",
        "fc.assert(fc.property(fc.nat(), holds), { numRuns: 3, seed: Date.now() });",
        "const drawn = fc.sample(fc.nat(), { seed });",
        "test.prop([fc.nat()], { seed: seedOf(1) })('holds', holds);",
        "const dice = Math.random();",
      ),
      file("examples/bad.test.ts", "fc.configureGlobal({});", "resetConfigureGlobal();", "installGlobalPlugin(p);"),
      file(
        "packages/machine/test/good.test.ts",
        "fc.assert(fc.property(fc.nat(), holds), { numRuns: 3 });",
        "fc.check(fc.property(fc.nat(), holds), { seed: 7 });",
        "simulate({ seed });",
      ),
      file("test/setup.ts", "fc.configureGlobal({ seed: seedOfRun() });"),
      file("test/shrinking.ts", "fc.installGlobalPlugin(boundShrinking);"),
      file("scripts/draw.ts", "const seed = Math.random();"),
    ),
  ),
  broken(
    "every example is run",
    examplesAreRun,
    sample(
      [/^examples\/forgotten\/chat\.ts: nothing runs it/],
      file("examples/weather/main.ts", 'import { tools } from "./tools.ts";'),
      file("examples/weather/tools.ts"),
      file("examples/browser/page.ts"),
      file("examples/forgotten/chat.ts"),
      file("packages/host/test/examples.test.ts", 'run("examples/browser/page.ts");'),
    ),
  ),
];

describe.each(cases)("$name", ({ rule, samples }) => {
  test("in this repository", () => {
    expect(rule(repository)).toEqual([]);
  });

  test("or else it is said where not", () => {
    for (const { sources, finds } of samples) {
      expect(rule(sources)).toEqual(finds.map((find) => expect.stringMatching(find)));
    }
  });
});

test("the rules look at the repository's sources", () => {
  const paths = repository.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(["packages/machine/src/index.ts", "packages/machine/package.json", "scripts/examples.ts"]),
  );
});
