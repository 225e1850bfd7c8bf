import type { Json } from "@colloquy/machine";
import { mkdirSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { fileChangesIn } from "../src/file-changes.ts";
import { testFolder } from "./test-folder.ts";

const { at, write } = testFolder();
write("secret.txt", "the secret");
mkdirSync(at("here/src"), { recursive: true });
write("here/notes.md", "one\ntwo\nthree\nfour\nfive\nsix\n");
write("here/src/twice.txt", "a\nb\na\n");
write("here/binary.dat", "a\0b");
write("here/large.txt", "x\n".repeat(500_001));
write("here/long.txt", "x\n".repeat(600));
symlinkSync(at("secret.txt"), at("here/link.txt"));
symlinkSync(at("here/notes.md"), at("here/inner.txt"));
symlinkSync("/nowhere/at/all", at("here/dangling.txt"));

const changeOf = fileChangesIn(at("here"));

test("a new text for a whole file is compared with the file", () => {
  const content = "one\ntwo\nthree\nfour\nFIVE\nsix\nseven\n";
  const lines = ["@@ line 3", " three", " four", "-five", "+FIVE", " six", "+seven"];
  for (const path of ["notes.md", "./notes.md", at("here/notes.md"), "src/../notes.md", "inner.txt"])
    expect(changeOf({ path, content })).toEqual({ title: `${path}, if "content" is written to it:`, lines });
  expect(changeOf({ file_path: "notes.md", text: content })?.lines).toEqual(lines);
});

test("a new text for a part of a file, once or everywhere, or several ones", () => {
  const of = (given: object) => changeOf({ path: "src/twice.txt", ...given })?.lines;
  expect(of({ old_string: "a", new_string: "$&" })).toEqual(["@@ line 1", "-a", "+$&", " b", " a"]);
  expect(of({ old_str: "a", new_str: "c", replace_all: true })).toEqual(["@@ line 1", "-a", "+c", " b", "-a", "+c"]);
  const edits = [
    { oldText: "a", newText: "c" },
    { oldText: "c\nb\na", newText: "d" },
  ];
  expect(of({ edits })).toEqual(["@@ line 1", "-a", "-b", "-a", "+d"]);
});

test.each<[Json]>([
  [{ path: "notes.md" }],
  [{ city: "Oslo" }],
  [{ content: "x" }],
  [{ path: 1, content: "x" }],
  [{ path: "notes.md", content: 1 }],
  [null],
  ["notes.md"],
])("%j changes no file", (given) => {
  expect(changeOf(given)).toBeNull();
});

test.each([
  ["new.md", /^new.md does not exist yet$/],
  ["nowhere/new.md", /^nowhere.new.md does not exist yet$/],
  ["../secret.txt", /^...secret.txt is not compared: it is outside of this folder$/],
  ["link.txt", /^link.txt is not compared: it is outside of this folder$/],
  ["/etc/passwd", /^.etc.passwd is not compared: it is outside of this folder$/],
  ["binary.dat", /is not compared: .* is binary/],
  ["large.txt", /^large.txt is not compared: it has 1,000,002 bytes$/],
  ["src", /is not compared: .* is a folder/],
  ["dangling.txt", /is not compared: ENOENT/],
  ["a\0b", /is not compared: /],
])("for %j the reason is given, and nothing of a file", (path, title) => {
  const change = changeOf({ path, content: "x" });
  expect(change).toEqual({ title: expect.stringMatching(title), lines: [] });
});

test("a text that would change nothing, is not there, or differs too much is said to", () => {
  expect(changeOf({ path: "src/twice.txt", content: "a\nb\na\n" })?.title).toBe("src/twice.txt has this text already");
  const missing = "src/twice.txt does not have the old text";
  expect(changeOf({ path: "src/twice.txt", old_string: "e", new_string: "c" })?.title).toBe(missing);
  expect(changeOf({ path: "src/twice.txt", old_string: "", new_string: "c" })?.title).toBe(missing);
  expect(changeOf({ path: "long.txt", content: "y\n".repeat(600) })).toEqual({
    title: "long.txt would become another text: too much differs",
    lines: [],
  });
});

test("edits that are too many, or make a text too large, are not compared", () => {
  const of = (count: number, edit: object) => changeOf({ path: "src/twice.txt", edits: Array(count).fill(edit) });
  const grown = of(40, { old_string: "a", new_string: "aa", replace_all: true });
  const whole = changeOf({ path: "src/twice.txt", content: "x\n".repeat(500_001) });
  for (const change of [grown, whole])
    expect(change).toEqual({
      title: "src/twice.txt is not compared: it would have more than 1,000,000 characters",
      lines: [],
    });
  const title = "src/twice.txt is not compared: the call has 101 edits";
  expect(of(101, { old_string: "b", new_string: "b" })).toEqual({ title, lines: [] });
  expect(of(100, { old_string: "b", new_string: "b" })?.title).toBe("src/twice.txt has this text already");
});
