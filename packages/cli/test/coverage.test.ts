import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../src/commands.ts";
import { exitCodes } from "../src/exit-code.ts";

/** All lines of the command's tests, except this file and the lists of refused options. */
const lines = globSync(join(import.meta.dirname, "**/*.ts"))
  .filter((path) => path !== import.meta.filename)
  .flatMap((path) => readFileSync(path, "utf8").split("\n"))
  .filter((line) => !/^\s*\[\["--/.test(line));

test.each(Object.entries(commands))("each option of %s is used by a test", (_, { options }) => {
  const unused = Object.keys(options).filter(
    (name) => !lines.some((line) => new RegExp(`--${name}\\b(?!-)`).test(line)),
  );
  expect(unused).toEqual([]);
});

test("each exit code is that of a test", () => {
  const unseen = Object.entries(exitCodes).filter(
    ([, code]) => !lines.some((line) => new RegExp(String.raw`exitCode(?:: |\)\.toBe\()${code}\b`).test(line)),
  );
  expect(unseen).toEqual([]);
});
