import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandWords } from "../src/chat-tools.ts";
import { historyFile, textEditor } from "../src/chat.ts";
import { testFolder } from "./test-folder.ts";

const { folder } = testFolder();

test("typed inputs are stored only for their owner, with line ends, up to a limit", async () => {
  const path = join(folder, "state/colloquy/history");
  const history = historyFile(path, 3);
  expect(await history.load()).toEqual([]);
  for (const text of ["one", "two\nlines", '"three"']) await history.append(text);
  expect(await historyFile(path, 3).load()).toEqual(["one", "two\nlines", '"three"']);
  expect([statSync(path).mode & 0o777, statSync(join(path, "..")).mode & 0o777]).toEqual([0o600, 0o700]);
  writeFileSync(path, '"torn\n', { flag: "a" });
  for (const text of ["4", "5", "6", "7"]) await history.append(text);
  expect(await history.load()).toEqual(["5", "6", "7"]);
  expect(readFileSync(path, "utf8")).toBe('"5"\n"6"\n"7"\n');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(path, ".."))).toEqual(["history"]);
});

test("the program in the environment edits a text; without one there is no editor", async () => {
  const script = join(folder, "an editor.mjs");
  writeFileSync(
    script,
    `import { readFileSync, statSync, writeFileSync } from "node:fs";
const file = process.argv.at(-1);
if (process.argv[2] === "fail") process.exit(1);
writeFileSync(file, readFileSync(file, "utf8") + (statSync(file).mode & 0o777).toString(8) + "\\n");`,
  );
  const editor = `${process.execPath} "${script}"`;
  expect(await textEditor({ EDITOR: editor })?.("tea\n")).toBe("tea\n600");
  expect(await textEditor({ EDITOR: "none", VISUAL: `${editor} fail` })?.("tea")).toBeNull();
  await expect(textEditor({ EDITOR: join(folder, "none") })?.("tea")).rejects.toThrow("ENOENT");
  expect(textEditor({ EDITOR: "" })).toBeUndefined();
});

test("a command line is split into words, and a quoted text is one word", () => {
  expect(commandWords(`npx -y 'a b'  "c  d"/e x='1 2' ""`)).toEqual(["npx", "-y", "a b", "c  d/e", "x=1 2", ""]);
});
