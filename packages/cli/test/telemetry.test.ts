import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { retryDelayMs } from "../src/telemetry-sink.ts";
import { run, runIn } from "./run-command.ts";
import { testFolder } from "./test-folder.ts";

const { at } = testFolder();

const written = (name: string, text: string): string => {
  writeFileSync(at(name), text);
  return at(name);
};

const journals = join(import.meta.dirname, "../../machine/test/journals");
const recorded = join(journals, "parallel-tools.jsonl");

const spansIn = (json: string): readonly { readonly name: string; readonly spanId: string }[] =>
  json
    .trimEnd()
    .split("\n")
    .flatMap((line) =>
      // Cast: the command wrote the line by the schema of OTLP.
      (JSON.parse(line) as Written).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    );

interface Written {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly { readonly name: string; readonly spanId: string }[] }[];
  }[];
}

interface Request {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** Starts an endpoint that gives these answers, and repeats the last one. */
const endpoint = async (
  ...answers: readonly { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }[]
): Promise<{ readonly url: string; readonly requests: readonly Request[] }> => {
  const requests: Request[] = [];
  const answered = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push({ url: request.url, headers: request.headers, body });
    response.writeHead(answer?.status ?? 200, answer?.headers).end(answer?.body ?? "");
  };
  const server = createServer((...given) => void answered(...given));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return { url: `http://127.0.0.1:${port}`, requests };
};

test("colloquy telemetry ends at an answer of an endpoint that is far too long", async () => {
  const { url, requests } = await endpoint({ status: 200, body: "x".repeat(1_000_000) });
  const { exitCode, error } = await run("telemetry", recorded, "--to", url);
  expect(exitCode).not.toBe(0);
  expect(error).toContain("its answer has more than 65536 bytes");
  expect(requests).toHaveLength(1);
});

describe("colloquy telemetry", () => {
  test("writes requests in JSON lines into a new file of its owner's", async () => {
    const to = at("spans.jsonl");
    const { exitCode, output } = await run("telemetry", recorded, "--to", to);
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: `6 spans of 1 thread written to ${to}\n` });
    expect(statSync(to).mode & 0o777).toBe(0o600);
    const text = readFileSync(to, "utf8");
    expect(spansIn(text).map(({ name }) => name)).toContain("execute_tool weather");
    expect(text).toContain('"stringValue":"colloquy"');
    expect(text).not.toContain("gen_ai.input.messages");
    expect((await run("telemetry", recorded, "--to", to)).error).toContain("exists already; choose another name");
  });

  test("names the service, and shows what was said where it is asked to", async () => {
    const to = at("content.jsonl");
    await runIn({ environment: { OTEL_SERVICE_NAME: "weather" } }, "telemetry", recorded, "--content", "--to", to);
    expect(readFileSync(to, "utf8")).toMatch(/"stringValue":"weather"(?=.*gen_ai\.input\.messages)/);
  });

  test("sends threads of a store, and the same spans each time", async () => {
    const store = at("kept.db");
    await run("import", journals, "--store", store);
    const first = await run("telemetry", "--store", store, "--all", "--to", at("all.jsonl"));
    expect(first).toMatchObject({ exitCode: 0, error: "" });
    const spans = spansIn(readFileSync(at("all.jsonl"), "utf8"));
    expect(spans.length).toBeGreaterThan(3);
    await run("telemetry", "t", "--store", store, "--to", at("one.jsonl"));
    expect(spansIn(readFileSync(at("one.jsonl"), "utf8"))).toEqual(spans);
    const none = await run("telemetry", "none", "--store", store, "--to", at("none.jsonl"));
    expect(none).toMatchObject({ exitCode: 1, output: "0 spans of 0 threads; no file is made\n" });
    expect(existsSync(at("none.jsonl"))).toBe(false);
    expect(none.error).toContain('there is no thread "none"');
  });

  test("sends to an endpoint, with headers that nothing shows, and again where it is busy", async () => {
    const { url, requests } = await endpoint(
      { status: 429, headers: { "retry-after": "0" } },
      { status: 503, headers: { "retry-after": "0" } },
      { status: 200 },
    );
    const headers = written("headers", "# for the viewer\nAuthorization: Bearer canary\n\nx-project: seven\r\n");
    const ran = await run("telemetry", recorded, "--to", url, "--protobuf", "--header-file", headers);
    expect(ran).toEqual({ exitCode: 0, output: `6 spans of 1 thread sent to ${url}/v1/traces\n`, error: "" });
    expect(requests).toHaveLength(3);
    expect(requests[2]).toMatchObject({
      url: "/v1/traces",
      headers: { authorization: "Bearer canary", "x-project": "seven", "content-type": "application/x-protobuf" },
    });
    expect(new Set(requests.map(({ body }) => body.toString("hex"))).size).toBe(1);
  });

  test.each([
    [{ status: 401, body: "canary" }, "it answered 401", 1],
    [{ status: 302, headers: { location: "http://127.0.0.1:1/canary" } }, "it answered 302", 1],
    [{ status: 503, headers: { "retry-after": "0" } }, "it answered 503, 5 times", 5],
    [
      { status: 200, body: '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}' },
      "2 spans refused: too old",
      1,
    ],
  ])("says what an endpoint did not take: %#", async (answer, problem, times) => {
    const { url, requests } = await endpoint(answer);
    const headers = written("secret", "x-api-key: canary");
    const { exitCode, output, error } = await run(
      "telemetry",
      recorded,
      "--to",
      `${url}/otlp?key=canary`,
      "--header-file",
      headers,
    );
    expect({ exitCode, error }).toEqual({ exitCode: 1, error: `colloquy: ${url}/otlp: ${problem}\n` });
    expect(requests).toHaveLength(times);
    expect(output + error).not.toContain("canary");
  });

  test("sends what can be read, and names the file and the entry of what can't", async () => {
    mkdirSync(at("mixed"));
    const lines = readFileSync(recorded, "utf8").split("\n");
    written("mixed/a.jsonl", lines.with(1, '{"seq":1,"event":{"type":"ask.received"}}').join("\n"));
    written("mixed/b.jsonl", lines.join("\n"));
    const { exitCode, output, error } = await run("telemetry", at("mixed"), "--to", at("mixed.jsonl"));
    expect({ exitCode, output }).toEqual({
      exitCode: 1,
      output: `6 spans of 1 thread written to ${at("mixed.jsonl")}\n`,
    });
    expect(error).toMatch(/mixed\/a\.jsonl: .*entry 1/);
  });

  test("stops when it is asked to", async () => {
    const { url } = await endpoint({ status: 503, headers: { "retry-after": "60" } });
    const stopping = new AbortController();
    const ran = runIn({ signal: stopping.signal }, "telemetry", recorded, "--to", url);
    stopping.abort("SIGINT");
    expect(await ran).toMatchObject({ exitCode: 130, output: "" });
  });

  test.each([
    [[recorded], "--to is missing"],
    [["--to", at("x")], "there is nothing to send"],
    [["--all", "--to", at("x")], "--all is about the threads of a --store"],
    [["t", "--all", "--store", at("kept.db"), "--to", at("x")], "--all takes no thread; 1 are named"],
    [[at("nowhere.jsonl"), "--to", at("x")], "there is no file or folder"],
    [[recorded, "--to", "http://ada:canary@127.0.0.1:1"], "--to has a user or a password in it"],
    [[recorded, "--to", "http://[canary"], "--to begins with http and is not a URL"],
    [[recorded, "--to", "localhost:4318"], "--to is not a URL of http or https; give an endpoint such as http://"],
    [[recorded, "--to", "grpc://canary.example/v1"], "--to is not a URL of http or https"],
    [[recorded, "--to", at("none/x")], `the folder "${at("none")}" does not exist; create it first`],
    [[recorded, "--to", at("x"), "--header-file", written("h", "a: b")], "--header-file is for an endpoint"],
    [[recorded, "--to", "http://127.0.0.1:1", "--header-file", written("bad", "x: 1\ncanary")], 'is no "name: value"'],
  ])("refuses what can't be meant, and shows no secret: %#", async (args, problem) => {
    const { exitCode, output, error } = await run("telemetry", ...args);
    expect({ exitCode, output }).toEqual({ exitCode: 2, output: "" });
    expect(error).toContain(problem);
    expect(error).not.toContain("canary");
  });
});

test.each([
  [1, null, 1_000],
  [4, null, 8_000],
  [1, "7", 7_000],
  [1, "99999", 60_000],
  [1, "-5", 0],
  [2, "soon", 2_000],
  [2, " ", 2_000],
  [1, "Thu, 01 Jan 1970 00:00:09 GMT", 4_000],
])("behind attempt %i and %j it waits %i ms", (attempt, retryAfter, delay) => {
  expect(retryDelayMs(attempt, retryAfter, 5_000)).toBe(delay);
});
