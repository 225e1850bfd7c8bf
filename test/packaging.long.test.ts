import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { ruleModel } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";

import { callerEnvironment } from "../scripts/caller.ts";
import { installedSizes, packageSizes } from "../scripts/package-sizes.ts";
import { firstPackage, onDisk, problemsOfSizes } from "../scripts/sizes-page.ts";
import { oneTurnExpected } from "./one-turn.ts";
import { importsOf } from "./rules/source.ts";

const root = dirname(import.meta.dirname);
const folder = mkdtempSync(join(tmpdir(), "colloquy-packaging-"));
const consumer = join(folder, "consumer");

/** Entry points that need an optional peer. All others load without one. */
const peers: Readonly<Record<string, readonly string[]>> = {
  "@colloquy/runtime-node/ai-sdk": ["ai"],
  "@colloquy/runtime-node/postgres": ["pg"],
  "@colloquy/runtime-node/redis": ["redis"],
  "@colloquy/runtime-restate/redis": ["redis"],
  "@colloquy/runtime-test/arbitraries": ["fast-check"],
  "@colloquy/runtime-test/contracts": ["vitest"],
  "@colloquy/runtime-test/laws": ["fast-check"],
  "@colloquy/runtime-test/vitest": ["vitest"],
  "@colloquy/host/telemetry/live": ["@opentelemetry/api"],
  "@colloquy/host/telemetry/otlp": ["@opentelemetry/api", "@opentelemetry/otlp-transformer"],
  "@colloquy/interchange/templates/jinja": ["@huggingface/jinja"],
  "@colloquy/interchange/tokens": ["gpt-tokenizer"],
  "@colloquy/memories/langchain": ["@langchain/core"],
  "@colloquy/memories/opensearch": ["@opensearch-project/opensearch"],
  "@colloquy/runtime-node/mcp": ["@modelcontextprotocol/client"],
};

const manifestSchema = z.object({ name: z.string(), exports: z.record(z.string(), z.string()) });

const dependenciesSchema = z.object({
  dependencies: z.record(z.string(), z.string()),
  peerDependencies: z.record(z.string(), z.string()).default({}),
});

const typeProblemsSchema = z.record(z.string(), z.array(z.unknown()));

const mapSchema = z.object({ sourcesContent: z.array(z.string()) });

const packages = globSync("packages/*/package.json", { cwd: root })
  .toSorted()
  .map((path) => ({
    folder: dirname(path),
    ...manifestSchema.parse(JSON.parse(readFileSync(join(root, path), "utf8"))),
  }));

const exported = packages.flatMap(({ name, exports }) =>
  Object.keys(exports).map((subpath) => name + subpath.slice(1)),
);
const isData = (entry: string): boolean => entry.endsWith(".json");
const entries = exported.filter((entry) => !isData(entry));
const plainEntries = entries.filter((entry) => peers[entry] === undefined);

const tarballs = (): readonly string[] => globSync(join(folder, "*.tgz")).toSorted();

/** Returns the place of a package, in the workspace or in one of its packages. */
const installed = (name: string): string =>
  ["", "examples", "packages/runtime-node", "packages/host", "packages/interchange", "packages/memories"]
    .map((owner) => join(root, owner, "node_modules", name))
    .find((path) => existsSync(path)) ?? join(root, "node_modules", name);

const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, {
    cwd,
    encoding: "utf8",
    env: callerEnvironment(),
    stdio: ["ignore", "pipe", "inherit"],
  });

const node = (...args: readonly string[]): string => run(process.execPath, args, consumer);

/** Returns the other packages that built files and declarations import. */
const importedBy = (dist: string): Set<string> => {
  const imported = new Set<string>();
  for (const path of globSync("**/*.{js,d.ts}", { cwd: dist })) {
    const text = readFileSync(join(dist, path), "utf8");
    const required = [...text.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, specifier = ""]) => specifier);
    for (const specifier of [...importsOf({ path, text }).map((each) => each.specifier), ...required])
      if (!/^(\.|node:)/.test(specifier)) imported.add(packageNamed(specifier));
  }
  return imported;
};

const packageNamed = (specifier: string): string => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;

/** Has Node import the entry points. Returns the exports of each. */
const namesExportedBy = (names: readonly string[]): Record<string, readonly string[]> => {
  const file = join(consumer, "load.js");
  const lines = names.map(
    (name) => `names[${JSON.stringify(name)}] = Object.keys(await import(${JSON.stringify(name)}));`,
  );
  writeFileSync(file, ["const names = {};", ...lines, "console.log(JSON.stringify(names));"].join("\n"));
  return z.record(z.string(), z.array(z.string())).parse(JSON.parse(node(file)));
};

// Installs the packages with npm as a user does: no workspace, no sources, no pnpm.
beforeAll(() => {
  run("npx", ["-y", "pnpm@12.21.0", "-r", "--filter", "./packages/*", "pack", "--pack-destination", folder], root);
  mkdirSync(consumer);
  writeFileSync(join(consumer, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", ...tarballs()], consumer);
}, 600_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe.each(packages)("$name", ({ name, exports }) => {
  test("is well packed", async () => {
    const tarball = tarballs().find((path) => path.includes(`${name.slice(1).replace("/", "-")}-0`));
    expect(tarball).toBeDefined();
    const { buffer } = new Uint8Array(readFileSync(tarball ?? ""));
    const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg ?? {}))).toEqual([]);
  });

  test("ships what was built, its licence and the data that it exports, and nothing else", () => {
    const shipped = globSync("**/*", { cwd: join(consumer, "node_modules", name), withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => join(each.parentPath, each.name).split(`${name}/`).at(-1));
    expect(shipped).toContain("LICENSE");
    expect(
      shipped.filter(
        (path) =>
          !(path !== undefined && isData(path) && `./${path}` in exports) &&
          !/^(LICENSE|README\.md|package\.json|docs\/[^/]+\.md|dist\/.*\.(js|d\.ts|map)|dist\/studio\/page\/.*\.(css|html))$/.test(
            path ?? "",
          ),
      ),
    ).toEqual([]);
  });
});

test.each(packages)("$name depends on what its files import, and on nothing that was built into them", ({ name }) => {
  const { dependencies, peerDependencies } = dependenciesSchema.parse(
    JSON.parse(readFileSync(join(consumer, "node_modules", name, "package.json"), "utf8")),
  );
  const imported = importedBy(join(consumer, "node_modules", name, "dist"));
  // The command uses MCP tools, an optional part of the runtime.
  if (name === "@colloquy/cli") imported.add("@modelcontextprotocol/client");
  expect(Object.keys(dependencies).filter((each) => !imported.has(each))).toEqual([]);
  const declared = new Set([name, ...Object.keys(dependencies), ...Object.keys(peerDependencies)]);
  expect([...imported].filter((each) => !declared.has(each))).toEqual([]);
});

test("the page of sizes says what was packed, and what it brings", () => {
  const page = readFileSync(join(root, "docs/packages.md"), "utf8");
  const installed = installedSizes(root, tarballs(), firstPackage);
  expect(problemsOfSizes(page, packageSizes(root, tarballs()), installed)).toEqual([]);
});

test("the first example installs 20 MB at most beside openai, and loads each package that it installs", async () => {
  const installed = installedSizes(root, tarballs(), firstPackage);
  const others = installed.filter(({ name }) => name !== "openai");
  expect(others.reduce((sum, each) => sum + onDisk(each), 0)).toBeLessThanOrEqual(20e6);
  cpSync(join(root, "examples/readme/quick-start.ts"), join(consumer, "quick-start.ts"));
  writeFileSync(join(consumer, "record-loads.mjs"), recordLoads);
  await using server = await loopbackServer({
    model: ruleModel([{ name: "any", when: () => true, answer: () => "Yes." }]),
  });
  const environment = { ...callerEnvironment(), OPENAI_API_KEY: "none", OPENAI_BASE_URL: server.url };
  const { stdout } = await promisify(execFile)(process.execPath, ["--import=./record-loads.mjs", "quick-start.ts"], {
    cwd: consumer,
    env: environment,
  });
  const loaded = z.array(z.string()).parse(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""));
  expect(loaded.toSorted()).toEqual(installed.map(({ name }) => name).toSorted());
});

test("each entry point resolves to its types, as modules and by bundlers", () => {
  const script = join(root, "test/packaging/type-problems.ts");
  const found = typeProblemsSchema.parse(JSON.parse(run(process.execPath, [script, ...tarballs()], root)));
  expect(Object.keys(found)).toHaveLength(packages.length);
  expect(Object.entries(found).filter(([, problems]) => problems.length > 0)).toEqual([]);
});

test("maps hold the sources that they lead to", () => {
  const files = globSync("node_modules/@colloquy/*/dist/**/*.{js,d.ts}", { cwd: consumer });
  const named = files.flatMap((file) => {
    const [, map] = /^\/\/# sourceMappingURL=(.*)$/m.exec(readFileSync(join(consumer, file), "utf8")) ?? [];
    return map === undefined ? [] : [join(dirname(file), map)];
  });
  expect(globSync("node_modules/@colloquy/*/dist/**/*.map", { cwd: consumer }).toSorted()).toEqual(named.toSorted());
  expect(named.length).toBeGreaterThan(packages.length);
  const empty = named.filter((map) => {
    const { sourcesContent } = mapSchema.parse(JSON.parse(readFileSync(join(consumer, map), "utf8")));
    return sourcesContent.some((source) => source === "");
  });
  expect(empty).toEqual([]);
});

test.each(packages)(
  "links of the README of $name, and of the pages that it ships, lead to what is there",
  ({ name }) => {
    const shipped = join(consumer, "node_modules", name);
    const pages = globSync("{README.md,docs/*.md}", { cwd: shipped });
    expect(pages.length).toBeGreaterThan(1);
    const links = pages.flatMap((page) =>
      [...readFileSync(join(shipped, page), "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = ""]) =>
        join(dirname(page), target),
      ),
    );
    expect(links.filter((target) => !existsSync(join(shipped, target)))).toEqual([]);
  },
);

test("every entry point loads, the optional peers being absent where they are not needed", () => {
  const names = namesExportedBy(plainEntries);
  expect(Object.keys(names)).toEqual(plainEntries);
  expect(names["@colloquy/machine"]).toEqual(expect.arrayContaining(["conversationMachine", "start", "transition"]));
});

test("a class is the same by whichever entry point it comes", () => {
  const file = join(consumer, "classes.js");
  const lines = plainEntries.map((name) => `seen(${JSON.stringify(name)}, await import(${JSON.stringify(name)}));`);
  writeFileSync(file, [seenClasses, ...lines, "console.log(JSON.stringify({ shared, copied }));"].join("\n"));
  const { shared, copied } = z
    .object({ shared: z.number(), copied: z.array(z.string()) })
    .parse(JSON.parse(node(file)));
  expect(copied).toEqual([]);
  expect(shared).toBeGreaterThan(5);
});

test("nothing in it is newer than the oldest Node can read: bundles keep what the sources say", () => {
  const files = globSync("node_modules/@colloquy/*/dist/**/*.js", { cwd: consumer });
  expect(files.length).toBeGreaterThan(packages.length);
  const declared = /^\s*(?:await using|using) \w/m;
  expect(files.filter((file) => declared.test(readFileSync(join(consumer, file), "utf8")))).toEqual([]);
});

test("a CommonJS file requires every entry point", () => {
  const required = [...plainEntries, ...exported.filter(isData)];
  writeFileSync(join(consumer, "load.cjs"), required.map((name) => `require(${JSON.stringify(name)});`).join("\n"));
  expect(node("load.cjs")).toBe("");
});

test("a conversation runs on what was installed", () => {
  for (const file of ["packaging/consumer.ts", "one-turn.ts"]) cpSync(join(root, "test", file), join(consumer, file));
  expect(JSON.parse(node("packaging/consumer.ts"))).toEqual(oneTurnExpected);
});

test("the command runs", () => {
  expect(node(join(consumer, "node_modules/.bin/colloquy"), "--help")).toContain("colloquy");
});

describe("with the optional peers", () => {
  beforeAll(() => {
    for (const peer of new Set(Object.values(peers).flat())) {
      const place = join(consumer, "node_modules", peer);
      // The command brings one of them.
      if (existsSync(place)) continue;
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(installed(peer), place);
    }
  });

  test("every entry point loads", () => {
    expect(Object.keys(namesExportedBy(Object.keys(peers)))).toEqual(Object.keys(peers));
  });

  test("Node resolves each package that a page imports, as the page writes it", () => {
    const pages = ["README.md", ...globSync("{docs,packages/*}/*.md", { cwd: root })];
    const printed = pages.flatMap((page) =>
      [...readFileSync(join(root, page), "utf8").matchAll(/(?:^|`)import [^;`"]*?"([^".][^"]*)"/gm)].map(
        ([, name = ""]) => name,
      ),
    );
    const specifiers = [...new Set(printed)].filter((name) => !name.startsWith("node:"));
    expect(specifiers).toContain("fp-ts/lib/Either.js");
    for (const name of specifiers.map(packageNamed)) {
      const place = join(consumer, "node_modules", name);
      if (existsSync(place)) continue;
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(installed(name), place);
    }
    expect(Object.keys(namesExportedBy(specifiers))).toEqual(specifiers);
  });

  test.each([
    { module: "nodenext", moduleResolution: "nodenext" },
    { module: "esnext", moduleResolution: "bundler" },
  ])(
    "the types of every entry point hold, without skipLibCheck, under $moduleResolution",
    (resolution) => {
      const lines = entries.map((entry, index) => `export * as entry${index} from ${JSON.stringify(entry)};`);
      writeFileSync(join(consumer, "types.ts"), lines.join("\n"));
      writeFileSync(join(consumer, "misuse.ts"), 'import { start } from "@colloquy/machine";\nstart("no machine");');
      writeFileSync(join(consumer, "tsconfig.json"), JSON.stringify(tsconfigWith(resolution)));
      expect(typeErrors()).toEqual([expect.stringMatching(/^misuse\.ts\(2,/)]);
      // tsc checks the declarations of all dependencies too.
    },
    180_000,
  );

  // The README promises these versions. TypeScript 5.4 can't parse the declarations of the tokenizer below `tokens`.
  test.each([
    {
      version: "5.4.5",
      about: "all but tokens",
      named: entries.filter((entry) => entry !== "@colloquy/interchange/tokens"),
    },
    { version: "5.6.3", about: "tokens", named: ["@colloquy/interchange/tokens"] },
  ])(
    "the types of $about hold in TypeScript $version",
    ({ version, named }) => {
      const lines = named.map((entry, index) => `export * as entry${index} from ${JSON.stringify(entry)};`);
      writeFileSync(join(consumer, "oldest.ts"), lines.join("\n"));
      const resolution = { module: "nodenext", moduleResolution: "nodenext", target: "es2022", lib: ["es2023"] };
      const { compilerOptions } = tsconfigWith(resolution);
      const tsconfig = { compilerOptions: { ...compilerOptions, ...resolution }, files: ["oldest.ts"] };
      writeFileSync(join(consumer, "oldest.json"), JSON.stringify(tsconfig));
      const tsc = ["-y", "-p", `typescript@${version}`, "tsc", "-p", "oldest.json"];
      expect(ownErrors(spawnSync("npx", tsc, { cwd: consumer, encoding: "utf8", env: callerEnvironment() }))).toEqual(
        [],
      );
    },
    300_000,
  );
});

/** Prints, when a program ends, the packages that it loaded modules of. */
const recordLoads = `
import { registerHooks } from "node:module";
const loaded = new Set();
registerHooks({
  load: (url, context, next) => {
    const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url) ?? [];
    if (name !== undefined) loaded.add(name);
    return next(url, context);
  },
});
process.once("exit", () => console.log(JSON.stringify([...loaded])));
`;

/** Finds copies of a class in bundles: `instanceof` would know only one. */
const seenClasses = `
const classes = new Map(), copied = [];
let shared = 0;
const seen = (entry, names) => {
  for (const [name, value] of Object.entries(names)) {
    if (typeof value !== "function" || !/^class\\b/.test(String(value))) continue;
    const known = classes.get(value.name ?? name) ?? value;
    if (known !== value) copied.push(entry + ": " + name);
    if (known === value && classes.has(value.name ?? name)) shared++;
    classes.set(value.name ?? name, known);
  }
};`;

const tsconfigWith = (resolution: Readonly<Record<string, string | readonly string[]>>) => ({
  compilerOptions: {
    ...resolution,
    target: "es2024",
    lib: ["es2024", "dom"],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: false,
    allowImportingTsExtensions: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
  },
  include: ["*.ts", "packaging"],
});

/** Returns the errors that tsc finds in the consumer and in our declarations. */
const typeErrors = (): readonly string[] =>
  ownErrors(
    spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."], {
      cwd: consumer,
      encoding: "utf8",
    }),
  );

/** Returns the errors that tsc prints, without those within our dependencies. */
const ownErrors = ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): readonly string[] => {
  if (stderr !== "") return [stderr];
  return stdout
    .split("\n")
    .filter((line) => /error TS/.test(line) && !/^(?!node_modules\/@colloquy\/).*node_modules\//.test(line));
};
