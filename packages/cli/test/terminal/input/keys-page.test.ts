import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { actions, type Keymap, keymaps } from "../../../src/terminal/input/keymap.ts";

const keysOf = (keymap: Keymap, wanted: string): string =>
  Object.entries(keymap)
    .filter(([, action]) => action === wanted)
    .map(([key]) => key)
    .join(", ") || "none";

test("docs/terminal.md has the actions and keys of the code; this is what belongs there", () => {
  const page = readFileSync(new URL("../../../../../docs/terminal.md", import.meta.url), "utf8");
  const rows = page.split("\n").filter((line) => /^\| `[A-Za-z]+` /.test(line));
  const written = rows.map((row) =>
    row
      .split("|")
      .map((cell) => cell.trim().replaceAll("`", ""))
      .slice(1, -1),
  );
  expect(written).toEqual(
    Object.entries(actions).map(([action, does]) => {
      const [standard, seed] = [keysOf(keymaps.standard, action), keysOf(keymaps.seed, action)];
      return [action, does, standard, seed === standard ? "" : seed];
    }),
  );
});
