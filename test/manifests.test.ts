import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { describe, expect, test } from "vitest";
import { z } from "zod";

const root = dirname(import.meta.dirname);

/** The part of a manifest that a registry shows and npm obeys. */
const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string().min(20).max(140),
  keywords: z.array(z.string().regex(/^[a-z0-9-]+$/)).min(4),
  license: z.literal("MIT"),
  author: z.string().min(1),
  type: z.literal("module"),
  files: z.array(z.string()),
  sideEffects: z.union([z.literal(false), z.array(z.string())]),
  exports: z.record(z.string(), z.string()),
  engines: z.object({ node: z.string() }),
  publishConfig: z.object({
    access: z.literal("public"),
    exports: z.record(z.string(), z.union([z.string(), z.object({ types: z.string(), default: z.string() })])),
  }),
  dependencies: z.record(z.string(), z.string()),
  peerDependencies: z.record(z.string(), z.string()).default({}),
  scripts: z.record(z.string(), z.string()),
});

const manifestAt = (path: string) => manifestSchema.parse(JSON.parse(readFileSync(join(root, path), "utf8")));

/** The versions that `catalog:` stands for. */
const catalog: Readonly<Record<string, string>> = Object.fromEntries(
  [...readFileSync(join(root, "pnpm-workspace.yaml"), "utf8").matchAll(/^ {2}"?([^":\s]+)"?: (\S+)$/gm)].map(
    ([, name, version]) => [name, version],
  ),
);

const workspace = z
  .object({ version: z.string(), engines: z.object({ node: z.string() }) })
  .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));

describe.each(globSync("packages/*/package.json", { cwd: root }).toSorted())("%s", (path) => {
  const manifest = manifestAt(path);
  const folder = basename(dirname(path));

  test("says what npm and its readers look for, as the others do", () => {
    expect(manifest).toMatchObject({ name: `@colloquy/${folder}`, ...workspace });
    expect(manifest.files).toEqual(expect.arrayContaining(["dist", "docs"]));
    expect(manifest.keywords).toContain("llm");
    // Nothing runs when it is installed.
    expect(Object.keys(manifest.scripts).toSorted()).toEqual(["postpack", "prepack"]);
  });

  test("publishes the entry points that the workspace has, with the types and the code of their sources", () => {
    const published = Object.entries(manifest.exports).map(([entry, source]) => {
      const built = source.replace("./src/", "./dist/").replace(/\.ts$/, "");
      return [entry, source.endsWith(".ts") ? { types: `${built}.d.ts`, default: `${built}.js` } : source];
    });
    expect(manifest.publishConfig.exports).toEqual({
      ...Object.fromEntries(published),
      "./package.json": "./package.json",
    });
  });

  test("says which versions of a peer it works with: from one that exists on", () => {
    for (const range of Object.values(manifest.peerDependencies))
      expect(range).toMatch(/^(\^|>=)\d+(\.\d+)*( <\d+(\.\d+)*)?$/);
    const own = Object.entries(manifest.dependencies).filter(([name]) => name.startsWith("@colloquy/"));
    expect(own.filter(([, range]) => range !== "workspace:*")).toEqual([]);
  });

  test("brings packages of others by a range", () => {
    const others = Object.entries(manifest.dependencies).filter(([name]) => !name.startsWith("@colloquy/"));
    const ranges = others.map(([name, range]) => [name, range === "catalog:" ? catalog[name] : range]);
    expect(ranges.filter(([, range]) => !/^\^\d+\.\d+\.\d+$/.test(range ?? ""))).toEqual([]);
  });
});
