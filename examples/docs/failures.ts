// Shows how the OpenAI handler reads the responses of servers, for docs/model-calls.md. A server on this machine plays them.
import { createHost, openaiChat, sqliteStore, TurnFailedError } from "@colloquy/runtime-node";
import { recordedHtml, recordedJson, recordedStream, loopbackServer } from "@colloquy/runtime-test/server";

const error = (code: string, message: string) => ({ error: { message, type: "error", code, param: null } });
const piece = `data: {"choices":[{"index":0,"delta":{"content":"Once upon"}}]}\n\n`;

const recorded = [
  recordedJson(error("rate_limit_exceeded", "slow down"), { status: 429, headers: { "retry-after": "3" } }),
  recordedJson(error("insufficient_quota", "no money"), { status: 429 }),
  recordedJson(error("invalid_api_key", "Incorrect API key: sk-abcdef123456"), { status: 401 }),
  recordedJson(error("context_length_exceeded", "too many tokens"), { status: 400 }),
  recordedHtml(),
  recordedStream(piece), // ends without saying why
  recordedStream(piece, { fault: { type: "stall", afterBytes: piece.length } }), // then sends nothing more
];
await using server = await loopbackServer({ recorded });

const host = createHost({
  machine: { retry: { attempts: 1 }, idleTimeoutMs: 1_000 },
  store: sqliteStore({ path: ":memory:" }),
  llm: openaiChat({ model: "gpt-4o-mini", baseURL: server.url, apiKey: "none" }),
});

for (const input of recorded.keys()) {
  await host.ask(`${input}`, { threadId: "t" }).catch((thrown: unknown) => {
    if (!(thrown instanceof TurnFailedError)) throw thrown;
    const { kind, retryable, retryAfterMs = "-", message } = thrown.failure;
    console.log(
      `${kind}, retryable: ${retryable}, wait: ${retryAfterMs}, shown: "${thrown.summary.text}" (${message})`,
    );
  });
}
await host.close();
