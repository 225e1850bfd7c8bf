import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import OpenAI from "openai";
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
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "anything" });
  const { id, output_text } = await client.responses.create({ model: "weather", input: "What's the weather in Oslo?" });
  expect(output_text).toMatch(/^Oslo today/);
  const next = await client.responses.create({ model: "weather", input: "And tomorrow?", previous_response_id: id });
  expect(next.output_text).toMatch(/^Oslo tomorrow/);
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});
