import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { canonicalText, digestOf, type Json } from "@colloquy/machine";
import { decodeJournal, fold } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { expect, test } from "vitest";

// `vitest run -u` rewrites the digests. A change here means that a stored thread has another state than before.
test("folds each journal that an earlier build wrote to the same state as before", async () => {
  const folder = join(import.meta.dirname, "../journals");
  const lines = globSync("*.jsonl", { cwd: folder })
    .toSorted()
    .map((file) => {
      const entries = readFileSync(join(folder, file), "utf8").trimEnd().split("\n");
      const decoded = decodeJournal(entries.map((line): unknown => JSON.parse(line)));
      const folded = Either.isLeft(decoded) ? null : fold(decoded.right);
      if (folded === null || Either.isLeft(folded)) return `${file} is unreadable\n`;
      // A state is plain JSON.
      const state = JSON.parse(JSON.stringify(folded.right)) as Json;
      return `${basename(file, ".jsonl")}: ${digestOf(canonicalText(state))}\n`;
    });
  expect(lines.length).toBeGreaterThan(35);
  await expect(lines.join("")).toMatchFileSnapshot("kept-journals.txt");
});
