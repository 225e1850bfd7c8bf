import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import OpenAI from "openai";
import { afterAll, expect, test } from "vitest";

const root = dirname(dirname(import.meta.dirname));
const folder = mkdtempSync(join(tmpdir(), "colloquy-weather-serve-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The program, as far as that it listens, and its end. */
const served = async (store: string) => {
  const program = join(root, "examples/weather/serve.ts");
  const child = spawn(process.execPath, [program, "--port", "0", "--store", join(folder, store)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return {
    url: line.replace(/^.* at /, ""),
    end: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
};

test("the weather agent is served until it is asked to end", async () => {
  const { url, end } = await served("weather.db");
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "anything" });
  const { id, output_text } = await client.responses.create({ model: "weather", input: "What's the weather in Oslo?" });
  expect(output_text).toMatch(/^Oslo today/);
  const next = await client.responses.create({ model: "weather", input: "And tomorrow?", previous_response_id: id });
  expect(next.output_text).toMatch(/^Oslo tomorrow/);
  expect(await end()).toEqual([0, null]);
});

const curl = readFileSync(join(root, "docs/server.md"), "utf8").match(/^curl .*$/gm) ?? [];

test.skipIf(spawnSync("curl", ["--version"]).status !== 0)("docs/server.md asks it by curl", async () => {
  const { url, end } = await served("curl.db");
  const said: string[] = [];
  for (const line of curl) {
    const child = spawn("sh", ["-c", line.replace("http://127.0.0.1:8080", url)], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    said.push(await text(child.stdout));
  }
  expect(said.map((answer) => answer.includes('"error":{"message"'))).toEqual(curl.map(() => false));
  expect(said[0]).toContain('"text":"Oslo today');
  expect(said[1]).toContain("event: response.completed\n");
  expect(JSON.parse(said[2] ?? "")).toMatchObject({ object: "list", data: [{}, {}] });
  expect(JSON.parse(said[3] ?? "")).toMatchObject({ openapi: "3.1.0" });
  expect(await end()).toEqual([0, null]);
});
