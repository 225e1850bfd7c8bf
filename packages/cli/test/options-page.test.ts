import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Command, commands } from "../src/commands.ts";
import { help, helpOf } from "../src/arguments.ts";

test("docs/terminal.md has the options of colloquy chat; this is what belongs there", () => {
  const page = readFileSync(new URL("../../../docs/terminal.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `--(\S+?)(?: ([^`]+))?` +\| (.*?) +\|$/gm)];
  expect(rows.map(([, name, value = "", does]) => [name, [value, does]])).toEqual(
    Object.entries(commands["chat"]?.options ?? {}),
  );
});

test("packages/cli/README.md shows how each command is called", () => {
  const page = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const shown = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, lines]) => lines).join("");
  expect(Object.keys(commands).filter((name) => !shown.includes(`colloquy ${name} `))).toEqual([]);
});

test("no empty line stands beside another in a help, whatever its command has", () => {
  const usage = [["look", "looks"]] as const;
  const bare: Command = { usage, options: {}, takes: "nothing", run: async () => 0 };
  const store = ["STORE", "where"] as const;
  expect(helpOf(bare)).toBe("  colloquy look             looks\n");
  expect(helpOf({ ...bare, about: "It looks." })).toBe("  colloquy look             looks\n\nIt looks.\n");
  for (const more of [{}, { options: { store } }, { options: { store }, sections: { store: "Where" } }])
    for (const examples of [[], ["colloquy look"]])
      expect(helpOf({ ...bare, ...more, examples, about: "It looks." })).not.toMatch(/\n\n\n/);
});

test("help fits into 80 columns, with each option once", () => {
  const pages = [help(), ...Object.values(commands).map(helpOf)];
  for (const line of pages.join("").split("\n")) expect(line.length).toBeLessThan(80);
  for (const command of Object.values(commands))
    for (const name of Object.keys(command.options))
      expect(helpOf(command).match(new RegExp(`^ {2}--${name}\\b(?!-)`, "gm"))).toHaveLength(1);
});
