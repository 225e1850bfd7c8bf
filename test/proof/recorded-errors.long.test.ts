import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@colloquy/machine";
import type { RecordedError } from "@colloquy/runtime-test/recordings";
import { afterAll, describe, expect, test } from "vitest";
import { reportOfErrors } from "../../proof/recordings/errors.ts";

const openai = "api.openai.com";

/** Makes an error as OpenAI sends it. */
const said = (message: string, type: string, code: string | null = null): Json => ({
  error: { message, type, param: null, code },
});

const recorded = (
  id: string,
  status: number,
  body: Json,
  { host = openai, headers = {} }: { readonly host?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): RecordedError => ({
  id,
  host,
  response: { status, headers: { "content-type": "application/json", ...headers }, body },
});

/** Made-up errors in the form of recordings. */
const errors: readonly RecordedError[] = [
  recorded("a value", 400, said("Invalid 'messages[0]'.", "invalid_request_error", "invalid_value")),
  recorded("a key", 401, said("Incorrect API key provided: none.", "invalid_request_error", "invalid_api_key")),
  recorded("a model", 404, said("The model `x` does not exist", "invalid_request_error", "model_not_found")),
  recorded("a wait", 429, said("Rate limit reached", "requests", "rate_limit_exceeded"), {
    headers: { "retry-after": "2" },
  }),
  recorded("no money", 429, said("You exceeded your current quota", "insufficient_quota", "insufficient_quota")),
  recorded("a size", 429, said("Request too large: Limit 30000, Requested 40000.", "tokens", "rate_limit_exceeded")),
  recorded("a fault", 500, said("The server had an error", "server_error")),
  recorded("a crowd", 503, said("The engine is overloaded", "server_error")),
  recorded("a window", 400, said("Too many tokens", "invalid_request_error", "context_length_exceeded")),
  recorded("a gateway", 502, "<html>Bad gateway</html>", {
    host: "example.org",
    headers: { "content-type": "text/html" },
  }),
  recorded(
    "a deployment",
    404,
    { error: { code: "DeploymentNotFound", message: "It does not exist." } },
    { host: "x.openai.azure.com" },
  ),
  recorded("a success", 200, { error: { message: "Provider returned error", code: 502 } }, { host: "openrouter.ai" }),
  recorded(
    "a filter",
    400,
    { error: { code: "content_filter", message: "Filtered." } },
    { host: "x.openai.azure.com" },
  ),
  recorded("silence", 500, "", { headers: { "content-type": "text/plain" } }),
  recorded(
    "a filter that answers 200",
    200,
    { error: { message: "Filtered.", type: null, param: "prompt", code: "content_filter", status: 400 } },
    { host: "x.openai.azure.com" },
  ),
  recorded("advice", 500, said("The server had an error", "server_error"), { headers: { "x-should-retry": "false" } }),
];

const withStatus = (id: string, status: number): RecordedError => changed(id, (response) => ({ ...response, status }));
const withBody = (id: string, body: Json): RecordedError => changed(id, (response) => ({ ...response, body }));

const changed = (id: string, change: (response: RecordedError["response"]) => RecordedError["response"]) => {
  const error = errors.find((each) => each.id === id);
  if (error === undefined) throw new Error(`there is no error "${id}"`);
  return { ...error, response: change(error.response) };
};

describe("recorded errors", () => {
  test("become what they mean", async () => {
    const { failures, passed, lines } = await reportOfErrors("made-up", errors);
    expect(failures).toEqual([]);
    expect(passed).toBe(errors.length);
    expect(lines).toContain("429 rate_limit, not retryable: 2");
    expect(lines.at(-1)).toBe("expected by its status: 3, by its words: 13");
  });

  test.each<{ readonly error: RecordedError; readonly words: RegExp }>([
    { error: withStatus("a value", 503), words: /status 503 does not go with "invalid_value"/ },
    { error: withStatus("a value", 429), words: /status 429 does not go with/ },
    {
      error: withStatus("a value", 200),
      words: /does not answer with status 200 and an error alone that names no status/,
    },
    { error: withStatus("a key", 500), words: /status 500 does not go with "invalid_api_key"/ },
    { error: withStatus("a wait", 400), words: /status 400 does not go with "rate_limit_exceeded"/ },
    { error: withStatus("a fault", 400), words: /status 400 does not go with "server_error"/ },
    { error: withStatus("a deployment", 500), words: /does not go with "DeploymentNotFound"/ },
    { error: withStatus("a success", 503), words: /its status is 503, and its body says 502/ },
    { error: withBody("a value", { error: { message: "replaced" } }), words: /has no type and no param and no code/ },
    { error: withBody("a fault", said("Test", "test_error")), words: /nothing in its body is about status 500/ },
    {
      error: withBody("a key", said("Rate limit reached", "requests", "rate_limit_exceeded")),
      words: /status 401 does not go with/,
    },
    { error: withBody("a wait", {}), words: /its body has no message/ },
    { error: withBody("a deployment", "gone"), words: /announces JSON/ },
  ])("of which a part was changed are noticed: $error.id, $words", async ({ error, words }) => {
    const { failures } = await reportOfErrors("made-up", [error]);
    expect(failures).toMatchObject([{ id: error.id, words: expect.stringMatching(words) }]);
  });

  test("are judged alike under any id: the oracle remembers no case", async () => {
    const renamed = (id: string): RecordedError => ({ ...withStatus("a value", 503), id });
    const { failures } = await reportOfErrors("made-up", [renamed("a value"), renamed("never seen")]);
    expect(failures.map(({ words }) => words)).toEqual([failures[0]?.words, failures[0]?.words]);
    expect(failures).toMatchObject([{ id: "a value" }, { id: "never seen" }]);
  });
});

describe("pnpm recordings", () => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-errors-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const script = join(import.meta.dirname, "../../proof/recordings/main.ts");
  const run = (records: readonly RecordedError[]) => {
    writeFileSync(join(folder, "errors.jsonl"), records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    return spawnSync(process.execPath, [script, folder], { encoding: "utf8" });
  };

  test("passes errors as they were, and fails those of which a status or a body was changed", () => {
    expect(run(errors)).toMatchObject({ status: 0, stdout: expect.stringContaining("16 passed, 0 failed") });
    const status = run([withStatus("a value", 503), ...errors.slice(1)]);
    expect(status).toMatchObject({ status: 1, stdout: expect.stringContaining("FAILED a value") });
    const body = run([withBody("a wait", { error: { message: "replaced" } })]);
    expect(body).toMatchObject({ status: 1, stdout: expect.stringContaining("FAILED a wait") });
  });
});
