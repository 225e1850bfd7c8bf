import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "colloquy-weather-serve-"));
afterAll(() => rmSync(folder, { recursive: true }));
const program = join(dirname(import.meta.dirname), "../examples/weather/serve.ts");

test("the weather agent is served until it is asked to end", async () => {
  const child = spawn(process.execPath, [program, "--port", "0", "--store", join(folder, "weather.db")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const url = line.replace(/^.* at /, "");
  const response = await fetch(`${url}/nowhere`, { headers: { authorization: "Bearer anything" } });
  expect(await response.json()).toMatchObject({ error: { message: 'there is nothing at "/nowhere"' } });
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});
