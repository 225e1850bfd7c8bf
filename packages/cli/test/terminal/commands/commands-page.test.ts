import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { slashCommands } from "../../../src/terminal/commands/commands.ts";

test("docs/terminal.md has the commands of the code; this is what belongs there", () => {
  const page = readFileSync(new URL("../../../../../docs/terminal.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `(\/[^`]+)` +\| (.*?) +\|$/gm)].map(([, command, does]) => [command, does]);
  expect(rows).toEqual(slashCommands.map(({ name, usage, help }) => [`${name} ${usage}`.trim(), help]));
});
