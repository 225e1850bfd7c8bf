import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import * as contracts from "@colloquy/runtime-test/contracts";
import * as exported from "@colloquy/runtime-test/laws";
import * as simulation from "@colloquy/runtime-test/simulate";
import { expect, test } from "vitest";
import { z } from "zod";

import { benchmarks } from "../bench/main.ts";

const root = dirname(import.meta.dirname);
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const sectionOf = (page: string, title: string): string => page.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";

/** Removes the markup of Markdown. */
const plain = (text: string): string =>
  text
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/gu, "$1")
    .replaceAll(/\*\*|`/gu, "")
    .trim();

const promises = sectionOf(read("README.md"), "What you can rely on")
  .split("\n")
  .filter((line) => line.startsWith("- "))
  .flatMap((line) => plain(line.slice(2)).split(/(?<=\.) /u));

const rows = sectionOf(read("docs/testing.md"), "Promises")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .slice(2)
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, promise = "", holders = ""]) => ({
    promise: plain(promise),
    holders: [...holders.matchAll(/`([^`]+)`/gu)].map(([, name]) => name ?? ""),
  }));

const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read("package.json")));

/** Laws that checks and recorded runs verify, without a function of the same name. */
const lawsOfRuntimes = ["M14", "R1", "R2", "R3", "R4", "redaction", "approvals"];

const isThere = (holder: string): boolean => {
  const [command, script = "", ...args] = holder.split(" ");
  if (command === "pnpm") {
    if (script === "test" || script === "test:long") return existsSync(join(root, args[0] ?? ""));
    const chosen = args.filter((_, index) => args[index - 1] === "--only");
    return scripts[script] !== undefined && chosen.every((name) => Object.hasOwn(benchmarks, name));
  }
  return (
    lawsOfRuntimes.includes(holder) ||
    [exported.laws, exported.policyLaws, exported, contracts, simulation].some((each) => Object.hasOwn(each, holder))
  );
};

test("each promise of the README, and every other one, names what holds it", () => {
  expect(promises.length).toBeGreaterThan(4);
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.map(({ promise }) => promise)).toEqual(expect.arrayContaining(promises));
  expect(rows.filter(({ holders }) => holders.length === 0)).toEqual([]);
});

test("every law, function and command that holds a promise exists", () => {
  expect(rows.flatMap(({ holders }) => holders).filter((holder) => !isThere(holder))).toEqual([]);
  expect(["M99", "lawOfNothing", "pnpm dance", "pnpm test nowhere", "pnpm bench --only speed"].filter(isThere)).toEqual(
    [],
  );
});
