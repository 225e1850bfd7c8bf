import { mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { run } from "./run-command.ts";
import { testFolder } from "./test-folder.ts";

const { at } = testFolder();

mkdirSync(at("folder"));
writeFileSync(at("latin1"), Buffer.from("Gr\xfc\xdfe", "latin1"));
writeFileSync(at("binary"), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1, 2]));
writeFileSync(at("dies.mjs"), `console.error("the key FOO is missing"); process.exit(3);`);

const completion = ["--provider", "completion"];

test.each([
  [["--model="], "--model is empty; give it a value, or leave it out"],
  [["--mcp", "a", "--mcp="], "--mcp is empty"],
  [["--window=99999999999999999999"], '--window is "99999999999999999999"; it must be a whole number'],
  [["--window=-1"], '--window is "-1"'],
  [["--theme", "x".repeat(100_000)], "there is no theme"],
  [["--tools", at("none.mjs")], `there is no file "${at("none.mjs")}"`],
  [["--tools", at("folder")], "is a pipe or a device, or a folder; name a module in a file"],
  [["--template", at("none"), ...completion], `there is no file or folder "${at("none")}"`],
  [["--template", at("folder"), ...completion], "is a folder; name a file"],
  [["--template", at("latin1"), ...completion], "is not text in UTF-8 or UTF-16; convert it to UTF-8 first"],
  [["--template", at("binary"), ...completion], "is binary; name a file with text in it"],
  [["--agent", at("none.yaml")], "there is no such file"],
  [["--session", at("binary")], "is not a SQLite database"],
  [["--store", at("none/threads.db")], `the folder "${at("none")}" does not exist; create it first`],
  [["--store", "mysql://ada:secret@server/words"], '--store is a URL of "mysql"'],
  [["--store", "redis://:secret@[bad"], "--store begins with redis:// and is not a URL"],
  [["--base-url", "ftp://server"], 'the base URL "ftp://server" is not a URL of http or https'],
  [["--mcp", at("none")], "ENOENT"],
  [["--mcp", `${process.execPath} ${at("dies.mjs")}`], "standard error: the key FOO is missing"],
])("a value that can't be is refused in words, and no secret is shown: %#", async (args, problem) => {
  const { exitCode, output, error } = await run("chat", "Hi?", "--base-url", "http://127.0.0.1:1", ...args);
  expect({ exitCode, output }).toEqual({ exitCode: 2, output: "" });
  expect(error).toContain(problem);
  expect(error).not.toContain("secret");
  expect(error.length).toBeLessThan(2_500);
});

test("an empty question is none", async () => {
  expect((await run("chat", " ")).error).toContain("the question is empty");
});

test.each(["postgres", "redis"])("of a %s that is not there, the address is said, and no password", async (kind) => {
  const { exitCode, error } = await run("threads", "--store", `${kind}://ada:secret@127.0.0.1:1/0`);
  expect(exitCode).toBe(2);
  expect(error).toMatch(/127\.0\.0\.1:1.* (?:ECONNREFUSED|does not answer|can't be reached)/);
  expect(error).not.toContain("secret");
});
