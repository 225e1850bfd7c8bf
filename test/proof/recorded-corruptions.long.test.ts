import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHash } from "node:crypto";
import { canonicalJson, sha256OfMessages } from "@colloquy/runtime-test/recordings";
import { afterAll, beforeAll, expect, test } from "vitest";
import { reportOfCorruptions } from "../../proof/recordings/corrupt.ts";

const handmade = join(import.meta.dirname, "../../packages/runtime-test/test/recordings/handmade");
const folder = mkdtempSync(join(tmpdir(), "colloquy-corruptions-"));

const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
const tools = [
  { type: "function", function: { name: "tide", description: "The tide.", parameters: { type: "object" } } },
];
const asked = [{ role: "user", content: "When is the tide?" }];
const answered = [...asked, { role: "assistant", content: "At six." }];

/** A made-up case and the exchange of its call. */
const exchange = {
  id: "made-up@0",
  source: "made-up",
  cassette: "tide",
  index: 0,
  api: "chat.completions",
  host: "api.openai.com",
  request: { body: { model: "gpt-4o", messages: asked, temperature: 0.5, tools } },
  response: {
    status: 200,
    headers: { "content-type": "application/json" },
    body: {
      model: "gpt-4o-2024-08-06",
      choices: [{ index: 0, message: { role: "assistant", content: "At six." }, finish_reason: "stop" }],
      usage,
    },
  },
};
const recorded = {
  id: "made-up#0",
  source: "made-up",
  api: "chat.completions",
  model: "gpt-4o",
  tags: [],
  system: null,
  tools,
  params: { temperature: 0.5 },
  steps: [
    { type: "user", content: "When is the tide?" },
    {
      type: "llm",
      message: { content: "At six." },
      finish_reason: "stop",
      usage,
      exchange: { cassette: "tide", index: 0 },
    },
  ],
  end: "after_llm",
  expect: {
    calls: [
      {
        messages: 1,
        sha256: sha256OfMessages(asked),
        wire_sha256: createHash("sha256").update(canonicalJson(asked)).digest("hex"),
      },
    ],
    llm_calls: 1,
    tool_calls: 0,
    tool_results: 0,
    user_messages: 1,
    messages_final: 2,
    final_sha256: sha256OfMessages(answered),
    finish_reasons: ["stop"],
    usage,
  },
};
const pieces = ["At ", "six", "."].map((content) => ({ choices: [{ index: 0, delta: { content } }] }));
const end = [{ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }, { choices: [], usage }];
const stream = {
  id: "made-up stream",
  tags: ["DONE"],
  sse: [...[...pieces, ...end].map((chunk) => JSON.stringify(chunk)), "[DONE]"]
    .map((data) => `data: ${data}\n\n`)
    .join(""),
  expect: {
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "At six." } }],
    usage,
  },
};
const error = {
  id: "made-up error",
  host: "api.openai.com",
  response: {
    status: 401,
    headers: { "content-type": "application/json" },
    body: {
      error: {
        message: "Incorrect API key provided.",
        type: "invalid_request_error",
        param: null,
        code: "invalid_api_key",
      },
    },
  },
};

beforeAll(() => {
  cpSync(handmade, folder, { recursive: true });
  for (const [name, record] of Object.entries({ recorded, exchange, stream, error }))
    writeFileSync(join(folder, `${name}.jsonl`), `${JSON.stringify(record)}\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));

test("every damage to a record that can be known without the original is noticed (seed 7)", async () => {
  const { failures, passed } = await reportOfCorruptions(folder, 7, 2);
  expect(failures).toEqual([]);
  expect(passed).toBeGreaterThan(60);
});
