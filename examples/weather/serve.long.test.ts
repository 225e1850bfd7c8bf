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

/** Starts the program and waits until it listens. */
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

test.each([
  [["--prot", "1"], "Unknown option '--prot'"],
  [["--port", "http"], '--port is "http"; it must be a whole number from 0 to 65535'],
  [["--store", join(folder, "none", "weather.db")], "create it first"],
])("%j is refused in words, without a stack", (args, words) => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, "examples/weather/serve.ts"), ...args], {
    encoding: "utf8",
  });
  expect({ status, lines: stderr.trimEnd().split("\n").length }).toEqual({ status: 2, lines: 1 });
  expect(stderr).toContain(words);
});

test("a port in use is refused with a hint", async () => {
  const { url, end } = await served("first.db");
  const program = join(root, "examples/weather/serve.ts");
  const args = [program, "--port", new URL(url).port, "--store", join(folder, "second.db")];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: `listen EADDRINUSE: address already in use ${new URL(url).host}; give another as --port, or 0 for one that is free\n`,
  });
  expect(await end()).toEqual([0, null]);
});
