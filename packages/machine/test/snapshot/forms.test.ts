import { differenceOf } from "@colloquy/runtime-test/laws";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { type Entry, type Message, toolResultOf, type ToolResultPart } from "../../src/index.ts";
import { decodeJournal, fold } from "../../src/journal.ts";
import { packMessages, unpackMessages } from "../../src/snapshot/message.ts";
import { loadAll, takeSnapshot } from "../../src/snapshot/snapshot.ts";
import { StoredChunks } from "../../src/snapshot/stored.ts";
import { round } from "../prompt/policies/made-up-history.ts";
import { editedJournal } from "../journal/long-journal.ts";
import { SnapshotShelf } from "./shelf.ts";
import { right, throughJson } from "../reading.ts";

// Stores keep snapshots, and later versions read them, so these files record their form. After a change the old form
// must still be readable, and a usual turn must not take more bytes.

const folder = path.join(import.meta.dirname, "../journals");

const journals: readonly (readonly [string, readonly Entry[]])[] = [
  ...globSync("*.jsonl", { cwd: folder })
    .toSorted()
    .map((file): readonly [string, readonly Entry[]] => {
      const lines = readFileSync(path.join(folder, file), "utf8").trimEnd().split("\n");
      return [path.basename(file, ".jsonl"), right(decodeJournal(lines.map((line): unknown => JSON.parse(line))))];
    }),
  [
    "many turns, one of them of many rounds",
    editedJournal([
      { edit: "turns", count: 34, pick: 0, afterwards: "nothing" },
      { edit: "rounds", count: 12, pick: 0, afterwards: "nothing" },
      { edit: "annotate", count: 1, pick: 3, afterwards: "nothing" },
    ]).map(({ entry }) => entry),
  ],
];

describe("a snapshot", () => {
  test.each(journals)("of %s is what it was taken of", (_, entries) => {
    const state = right(fold(entries));
    const shelf = new SnapshotShelf();
    shelf.save(takeSnapshot(state, newestOf(entries), new StoredChunks()));
    expect(differenceOf(throughJson(state), throughJson(loadAll(shelf.read().state)))).toBeNull();
  });

  test("is written in the same form as before", async () => {
    const lines = journals.flatMap(([name, entries]) => {
      const { head, chunks } = takeSnapshot(right(fold(entries)), newestOf(entries), new StoredChunks());
      return [name, `  head ${head}`, ...[...chunks].map(([id, text]) => `  ${id} ${text}`), ""];
    });
    await expect(lines.join("\n")).toMatchFileSnapshot("snapshots.txt");
  });
});

test.each<readonly [string, Partial<Message>, Partial<ToolResultPart>]>([
  ["as the machine makes it", {}, {}],
  ["of another call", {}, { callId: "1.1.7" }],
  ["under another id of a provider", {}, { providerCallId: "call_7" }],
  ["of another tool", {}, { name: "read" }],
  ["with an id of its own", { id: "1.9" }, {}],
])("a result %s is read unchanged", (_, ofMessage, ofPart) => {
  const messages = round("1.1", "", ["found", "found too"]).map((message): Message => {
    const result = toolResultOf(message);
    return result === undefined ? message : { ...message, parts: [{ ...result, ...ofPart }], ...ofMessage };
  });
  expect(unpackMessages(1, packMessages(1, messages))).toEqual(messages);
});

test("calls after one with more members than usual keep their ids, and so do their results", () => {
  const messages = round("1.1", "", ["found", "found too", "found last"]).map((message): Message => {
    const [first, ...others] = message.parts;
    return first?.type === "toolCall"
      ? { ...message, parts: [{ ...first, provider: { seen: true } }, ...others] }
      : message;
  });
  expect(messages[0]?.parts[0]).toMatchObject({ provider: { seen: true } });
  expect(unpackMessages(1, packMessages(1, messages))).toEqual(messages);
});

test.each<readonly [string, (result: ToolResultPart) => readonly object[]]>([
  ["more than one result", (result) => [result, result]],
  ["what a later version adds to it", (result) => [{ ...result, seenBy: "Ada" }]],
])("a tool's message with %s is read unchanged", (_, partsOf) => {
  const messages = round("1.1", "", ["found"]).map((message) => {
    const result = toolResultOf(message);
    // Only an older machine made this form.
    return result === undefined ? message : ({ ...message, parts: partsOf(result) } as Message);
  });
  expect(unpackMessages(1, packMessages(1, messages))).toEqual(messages);
});

const newestOf = (entries: readonly Entry[]): Entry => {
  const newest = entries.at(-1);
  if (newest === undefined) throw new Error("a journal without entries");
  return newest;
};
