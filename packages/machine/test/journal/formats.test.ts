import * as Either from "fp-ts/lib/Either.js";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { canonicalText } from "../../src/index.ts";
import { decodeJournal, describeDecodeError, fold, journalFormat } from "../../src/journal.ts";
import { promptStories } from "../golden/prompt-stories.ts";
import { threadStories } from "../golden/thread-stories.ts";

// Journals of every format that was ever released stay here as they were written, and must be readable for ever. Their
// folded state is beside them. A change that loses or alters a message there is a defect. A change that only adds to
// the state is recorded with `vitest run -u`.

const folder = path.join(import.meta.dirname, "../journals");
const journals = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".jsonl"));

const linesOf = (file: string): readonly unknown[] =>
  readFileSync(path.join(folder, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

describe("journals that were written by earlier versions", () => {
  test("there are some of each format", () => {
    const formats = new Set(journals.map((file) => path.dirname(file)));
    expect([...formats].sort()).toEqual(Array.from({ length: journalFormat }, (_, index) => `format-${index + 1}`));
  });

  test("each story of prompts and of overlapping asks is among them", () => {
    const told = journals.map((file) => path.basename(file, ".jsonl"));
    expect([...promptStories, ...threadStories].map(({ name }) => name).filter((name) => !told.includes(name))).toEqual(
      [],
    );
  });

  test.each(journals)("%s folds to what it did", async (file) => {
    const entries = decodeJournal(linesOf(file));
    if (Either.isLeft(entries)) throw new Error(describeDecodeError(entries.left));
    const state = fold(entries.right);
    if (Either.isLeft(state)) throw new Error(state.left.reason);
    // Members in one order, whichever the code has now.
    const sorted: unknown = JSON.parse(canonicalText(JSON.parse(JSON.stringify(state.right))));
    const text = `${JSON.stringify(sorted, null, 1)}\n`;
    await expect(text).toMatchFileSnapshot(path.join(folder, file.replace(/\.jsonl$/, ".state.json")));
  });
});
