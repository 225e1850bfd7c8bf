// Tests the web backend over HTTP: streaming, a client that disconnects, an approval, and a restart after kill -9.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { never, reply, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { afterEach, expect, test, vi } from "vitest";

import { freePort } from "../proof/servers/process.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-web-"));
let backend: ChildProcess | undefined;

afterEach(() => {
  backend?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const refund = toolCalls([{ name: "refund", arguments: { order: "17", amount: 12 } }]);

test("it streams, cancels, asks for approval, and continues after a kill -9", async () => {
  const model = scriptedModel([
    streams(["Good ", "day."]),
    never({ pieces: ["Once "] }),
    refund,
    reply("It is paid.", { expects: "Paid back 12 for order 17." }),
    refund,
    never(),
    reply("Hello, Grace.", { expects: "I am Grace." }),
    reply("It is paid again.", { expects: "Paid back 12 for order 17." }),
  ]);
  await using server = await loopbackServer({ model });
  let address = await startBackend(server.url);

  let text = "";
  for await (const part of ask(address, "ada", "Hello.")) text += part.type === "text.delta" ? part.text : "";
  expect(text).toBe("Good day.");

  // Leaving the loop closes the connection, which cancels the turn. The shown text is kept.
  for await (const { type } of ask(address, "ada", "Tell me everything.")) if (type === "text.delta") break;
  await expect.poll(() => textsOf(address, "ada")).toHaveLength(4);

  const parts: string[] = [];
  for await (const { type, request } of ask(address, "ada", "Pay order 17 back.")) {
    parts.push(type);
    if (type === "approval.requested") await approve(address, "ada", request);
  }
  expect(parts).toEqual(expect.arrayContaining(["approval.requested", "toolResult", "text.delta", "turn.ended"]));
  expect(await textsOf(address, "ada")).toEqual(expect.arrayContaining(["Good day.", "Once ", "It is paid."]));

  // Bob's thread waits for a person, Grace's for its model, and the process is killed.
  const bob = ask(address, "bob", "Pay order 17 back.");
  for (let next = await bob.next(); next.value?.type !== "approval.requested"; next = await bob.next());
  const grace = ask(address, "grace", "I am Grace.");
  await grace.next();
  await expect.poll(() => model.calls).toHaveLength(6);
  backend?.kill("SIGKILL");
  await expect(bob.next()).rejects.toThrow("terminated");

  address = await startBackend(server.url);
  await expect.poll(() => textsOf(address, "grace")).toEqual(["I am Grace.", "Hello, Grace."]);
  const [request] = (await get(address, "bob/approvals")) as readonly Requested[];
  await approve(address, "bob", request);
  await expect.poll(async () => (await textsOf(address, "bob")).at(-1)).toBe("It is paid again.");
  model.assertComplete();
});

/** Starts a backend in its own process, always on the same file. Returns its address. */
const startBackend = async (model: string): Promise<string> => {
  const port = await freePort();
  backend = spawn(process.execPath, [join(import.meta.dirname, "14-web-backend.ts")], {
    env: {
      ...process.env,
      PORT: String(port),
      THREADS: join(folder, "threads.db"),
      OPENAI_BASE_URL: model,
      OPENAI_API_KEY: "none",
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const address = `http://127.0.0.1:${port}`;
  await vi.waitFor(() => fetch(address), { timeout: 60_000, interval: 50 });
  return address;
};

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly request?: Requested;
}

/** Asks, and yields the parts as they arrive. Leaving the loop closes the connection. */
async function* ask(address: string, threadId: string, text: string): AsyncGenerator<Part> {
  const going = new AbortController();
  try {
    const body = JSON.stringify({ text });
    const response = await fetch(`${address}/${threadId}/asks`, { method: "POST", body, signal: going.signal });
    let rest = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (rest + chunk).split("\n\n");
      rest = events.pop() ?? "";
      // Cast: the backend sends the parts of an ask.
      for (const event of events) yield JSON.parse(event.replace(/^event: .*\ndata: /, "")) as Part;
    }
  } finally {
    going.abort();
  }
}

/** The id of a call that waits for approval, and the digest of the shown call. */
interface Requested {
  readonly id: string;
  readonly digest: string;
}

const approve = async (address: string, threadId: string, { id, digest }: Partial<Requested> = {}): Promise<void> => {
  const body = JSON.stringify({ id, digest, approved: true });
  const { status } = await fetch(`${address}/${threadId}/approvals`, { method: "POST", body });
  expect(status).toBe(200);
};

const textsOf = async (address: string, threadId: string): Promise<readonly string[]> => {
  const messages = (await get(address, `${threadId}/messages`)) as readonly { readonly text: string }[];
  return messages.map(({ text }) => text).filter((text) => text !== "");
};

const get = async (address: string, path: string): Promise<unknown> => (await fetch(`${address}/${path}`)).json();
