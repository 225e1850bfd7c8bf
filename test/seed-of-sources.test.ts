import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { seedOf, seedOfSources, type SourceFile } from "../scripts/seed-of-sources.ts";

const file = (path: string, text: string): SourceFile => ({ path, bytes: Buffer.from(text) });
const files = [
  file("packages/a/src/a.ts", "one"),
  file("packages/a/test/a.jsonl", "two"),
  file("test/a.test.ts", "three"),
];
const [first, second, third] = [file("a.ts", "x"), file("b.ts", "y"), file("c.ts", "z")];

const roots: string[] = [];
afterEach(() => roots.splice(0).forEach((root) => rmSync(root, { recursive: true })));

const copyOf = (given: readonly SourceFile[], written: Date): string => {
  const root = mkdtempSync(join(tmpdir(), "sources-"));
  roots.push(root);
  for (const { path, bytes } of given) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), bytes);
    utimesSync(join(root, path), written, written);
  }
  return root;
};

test("the seed of some sources is the same in whatever order they are read", () => {
  const orders = [
    [first, second, third],
    [third, second, first],
    [second, third, first],
  ];
  expect(new Set(orders.map(seedOf)).size).toBe(1);
});

test("another one after each change: of a text, of a name, of what stands in which file", () => {
  const changes = [
    files,
    [...files, file("test/b.ts", "")],
    files.slice(1),
    [file("packages/a/src/a.ts", "ond"), ...files.slice(1)],
    [file("packages/a/src/b.ts", "one"), ...files.slice(1)],
    [file("packages/a/src/a.ts", "onetwo"), file("packages/a/test/a.jsonl", ""), ...files.slice(2)],
  ];
  const seeds = changes.map(seedOf);
  expect(new Set(seeds).size).toBe(changes.length);
  expect(seeds.every((seed) => Number.isInteger(seed) && seed >= 0 && seed < 1_000_000)).toBe(true);
});

test("a copy has the seed of the sources, wherever and whenever it was made, with what tools leave in it", () => {
  const beside = [
    "packages/a/dist/a.ts",
    "packages/a/.types/a.ts",
    "node_modules/a/a.ts",
    "packages/a/node_modules/b/b.ts",
    "test/a.log",
  ];
  const copies = [
    copyOf(files, new Date(0)),
    copyOf(files.toReversed(), new Date(1e12)),
    copyOf([...beside.map((path) => file(path, "anything")), ...files], new Date(0)),
  ];
  expect(copies.map(seedOfSources)).toEqual(copies.map(() => seedOf(files)));
});

test("the sources of this repository are among them", () => {
  expect(seedOfSources(join(import.meta.dirname, ".."))).not.toBe(seedOf([]));
});
