import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Size } from "../../../src/terminal/index.ts";
import { screenText } from "../kit/screen-text.ts";
import { scenes } from "./scenes.ts";

// The screens of all scenes, at three sizes. `~` is the scrollback, `|` the screen, `▏` the cursor. To update them:
// `vitest run packages/cli/test/terminal/screen/golden.test.ts -u`. Keep only screens that look right.

const sizes: readonly Size[] = [
  { columns: 80, rows: 24 },
  { columns: 20, rows: 10 },
  { columns: 200, rows: 50 },
];

// A list of threads shows the time of day.
beforeEach(() => void vi.stubEnv("TERM", "dumb").stubEnv("TZ", "UTC"));
afterEach(() => void vi.unstubAllEnvs());

test.each(scenes)("$name", async ({ name, play }) => {
  const screens: string[] = [];
  let coloured = "";
  for (const size of sizes)
    await play(size, async (cells, moment) => {
      await cells.settled();
      screens.push(`${moment}: ${screenText(cells)}\n`);
      if (size === sizes[0]) coloured = `${moment}, in colours: ${screenText(cells, true)}\n`;
    });
  if (name === "answer") screens.push(coloured);
  await expect(screens.join("\n")).toMatchFileSnapshot(`golden/${name}.txt`);
});

test("there is a scene for each file", () => {
  const files = readdirSync(join(import.meta.dirname, "golden"));
  expect(files.toSorted()).toEqual(scenes.map(({ name }) => `${name}.txt`).sort());
});
