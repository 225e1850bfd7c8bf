import { mkdirSync } from "node:fs";
import { expect, test } from "vitest";
import { attachmentsIn } from "../src/attachments.ts";
import { testFolder } from "./test-folder.ts";

const { at, write } = testFolder();
const folder = at(".");
write("notes.md", "Buy sheep.");
write("my plan.txt", "Sell sheep.");
write("dot.png", "not read as text");
write("binary.dat", "a\0b");
mkdirSync(at("src"));
mkdirSync(at("shots.png"));
write("src/main.ts", "export {};");
write(".hidden", "");

const { contentOf, pathsFrom } = attachmentsIn(folder);
const notes = { type: "text", text: "# Attached: notes.md\n\nBuy sheep." };

test.each([
  ["What is in @notes.md?", [notes]],
  ["@notes.md", [notes]],
  ["Compare (no file) @notes.md, and @notes.md.", [notes]],
  ['Do @"my plan.txt"!', [{ type: "text", text: "# Attached: my plan.txt\n\nSell sheep." }]],
  ["@src/main.ts please", [{ type: "text", text: "# Attached: src/main.ts\n\nexport {};" }]],
  [
    "Show @dot.png",
    [{ type: "image", url: `data:image/png;base64,${Buffer.from("not read as text").toString("base64")}` }],
  ],
])("%s has the files that it names behind it", (text, attached) => {
  expect(contentOf(text)).toEqual([{ type: "text", text }, ...attached]);
});

test.each([
  "Hello",
  "Ask @ada.",
  "ada@notes.md",
  "@",
  "Write to @example.com",
  "What does @? mean, and @.",
  "Add @types/node and @/components/Button",
  `@${"a".repeat(300)}`,
  "@a\0b",
])("%j names no file", (text) => {
  expect(contentOf(text)).toBe(text);
});

test.each([
  ["@src/mian.ts", 'there is no file "src/mian.ts" to attach; leave out the @ if you mean something else'],
  ["@./main.ts", 'there is no file "./main.ts"'],
  ["@~/main.ts", 'there is no file "~/main.ts"'],
  ["@src", "is a folder; name a file"],
  ["@shots.png", '"shots.png" is not a file; name one'],
  ["@binary.dat", "is binary"],
])("%s is refused in words", (text, problem) => {
  expect(() => contentOf(text)).toThrow(problem);
});

test("paths are completed folder by folder, without hidden ones and ones that need quotes", () => {
  expect(pathsFrom("")).toEqual(["binary.dat", "dot.png", "notes.md", "shots.png/", "src/"]);
  expect(pathsFrom("no")).toEqual(["notes.md"]);
  expect(pathsFrom("src/")).toEqual(["src/main.ts"]);
  expect(pathsFrom("src/m")).toEqual(["src/main.ts"]);
  expect(pathsFrom("./src/m")).toEqual(["./src/main.ts"]);
  expect(pathsFrom("./no")).toEqual(["./notes.md"]);
  expect(pathsFrom("nowhere/")).toEqual([]);
});
