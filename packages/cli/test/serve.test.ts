import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { LlmHandler } from "@colloquy/host";
import { loopbackServer } from "@colloquy/runtime-test/server";
import OpenAI, { type APIError } from "openai";
import { once } from "node:events";
import { expect, test } from "vitest";
import { runCommand } from "../src/command.ts";
import { accessOf } from "../src/serve.ts";
import { run } from "./run-command.ts";
import { testFolder } from "./test-folder.ts";

const { folder } = testFolder();

const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text, { mode: 0o600 });
  return join(folder, name);
};

const main = new URL("../src/main.ts", import.meta.url).pathname;

const model = ["--base-url", "http://127.0.0.1:1/v1"];

/** Runs the command in this process until it listens. */
const served = async (...args: readonly string[]) => {
  const ending = new AbortController();
  const output = new PassThrough();
  const exitCode = runCommand(["serve", "--port", "0", ...model, ...args], {
    input: new PassThrough(),
    output,
    error: new PassThrough().resume(),
    isTerminal: false,
    environment: {},
    signal: ending.signal,
  });
  const [line] = (await once(createInterface({ input: output }), "line")) as [string];
  return {
    url: line.replace("listening at ", ""),
    end: () => {
      ending.abort("SIGTERM");
      return exitCode;
    },
  };
};

test("it listens until it is asked to end", async () => {
  const { url, end } = await served("--store", join(folder, "threads.db"));
  const bearer = { authorization: "Bearer anything" };
  expect((await fetch(`${url}/nowhere`, { headers: bearer })).status).toBe(404);
  expect(await end()).toBe(0);
  await expect(fetch(url)).rejects.toThrow("fetch failed");
});

test("on any loopback address it answers to that name", () => {
  expect(accessOf({}, "127.0.0.2").hosts).toEqual(["localhost", "127.0.0.1", "[::1]", "127.0.0.2"]);
});

test("with a token it answers those who bear it, by whatever name it is called", async () => {
  const { url, end } = await served("--host", "0.0.0.0", "--token-file", write("token", "s3cret-token-of-one\n"));
  const statusFor = async (token: string): Promise<number> =>
    (await fetch(`${url}/nowhere`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await statusFor("s3cret-token-of-one")).toBe(404);
  expect(await statusFor("s3cret-token-of-on")).toBe(401);
  expect(await end()).toBe(0);
});

test.skipIf(process.platform === "win32").each([0o640, 0o604, 0o620, 0o602, 0o644, 0o777])(
  "a token file that other users can read or write (mode %o) is refused, with the command that mends it",
  (mode) => {
    const file = write("open", "s3cret-token-of-one\n");
    chmodSync(file, mode);
    expect(() => accessOf({ "token-file": file }, "0.0.0.0")).toThrow(`run: chmod 600 "${file}"`);
    chmodSync(file, 0o600);
    expect(accessOf({ "token-file": file }, "0.0.0.0").authenticate).toEqual({ token: "s3cret-token-of-one" });
  },
);

const { PATH, NODE_COMPILE_CACHE } = process.env;

test("when asked to end, it refuses new requests, and ends once the open ones are answered", async () => {
  const goOn = Promise.withResolvers<void>();
  const answer: LlmHandler = async (_, { onDelta }) => {
    onDelta({ type: "text", text: "It is " });
    await goOn.promise;
    onDelta({ type: "text", text: "late." });
    return { type: "completed", reply: { content: "It is late." }, finishReason: "stop" };
  };
  await using models = await loopbackServer({ model: answer });
  const child = spawn(process.execPath, [main, "serve", "--port", "0", "--base-url", models.url], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH, NODE_COMPILE_CACHE, NODE_NO_WARNINGS: "1" },
  });
  const ended = once(child, "close");
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const client = new OpenAI({ baseURL: line.replace("listening at ", "").concat("/v1"), apiKey: "any", maxRetries: 0 });
  const stream = await client.responses.create({ model: "m", input: "Is it?", stream: true });
  let text = "";
  for await (const event of stream) {
    if (event.type === "response.output_text.delta") text += event.delta;
    if (text !== "It is ") continue;
    text += "very ";
    child.kill("SIGTERM");
    // Until the signal arrives, it answers as before.
    let status = 0;
    while (status !== 503)
      status = await client.conversations.create().then(
        () => 200,
        (error: APIError) => error.status ?? 0,
      );
    goOn.resolve();
  }
  expect(text).toBe("It is very late.");
  expect(await ended).toEqual([0, null]);
});

test.each([
  [["--host", "0.0.0.0"], "--host 0.0.0.0 is reached by other machines: give a --token-file"],
  [["--host", "::"], "--host :: is reached by other machines"],
  [
    ["--token-file", write("token-of-one", "s3cret-token-of-one"), "--host", "203.0.113.7"],
    '"203.0.113.7" is no address of this machine',
  ],
  [
    ["--token-file", write("empty", "\n")],
    "has 0 characters, and a token has at least 16; it must hold one token: `(umask",
  ],
  [["--token-file", write("three", "abc\n")], "has 3 characters, and a token has at least 16"],
  [["--token-file", write("two", "a b\n")], "must hold one token"],
  [["--token-file", join(folder, "none")], "--token-file: there is no file or folder"],
  [["--port", "65536"], '--port is "65536"'],
  [["--port", "http"], '--port is "http"'],
  [
    [
      "--agent",
      write("agent.yaml", "name: a\nsignature: { inputs: { question: string }, outputs: { answer: string } }\n"),
    ],
    "takes the inputs of its signature",
  ],
])("what can't be served is refused in words: %#", async (args, problem) => {
  const { exitCode, output, error } = await run("serve", "--port", "0", ...model, ...args);
  expect({ exitCode, output }).toEqual({ exitCode: 2, output: "" });
  expect(error).toContain(problem);
});
