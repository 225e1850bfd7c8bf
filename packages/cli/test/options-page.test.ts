import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { commands } from "../src/commands.ts";
import { help, helpOf } from "../src/help.ts";

test("docs/terminal.md has the options of colloquy chat; this is what belongs there", () => {
  const page = readFileSync(new URL("../../../docs/terminal.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `--(\S+?)(?: ([^`]+))?` +\| (.*?) +\|$/gm)];
  expect(rows.map(([, name, value = "", does]) => [name, [value, does]])).toEqual(
    Object.entries(commands["chat"]?.options ?? {}),
  );
});

test("help fits into 80 columns, with each option once", () => {
  const pages = [help(), ...Object.values(commands).map(helpOf)];
  for (const line of pages.join("").split("\n")) expect(line.length).toBeLessThan(80);
  for (const command of Object.values(commands))
    for (const name of Object.keys(command.options))
      expect(helpOf(command).match(new RegExp(`^ {2}--${name}\\b(?!-)`, "gm"))).toHaveLength(1);
});
