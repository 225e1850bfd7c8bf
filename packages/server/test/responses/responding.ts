import { createHost, type Host, type HostOptions, memoryStore, type Store, tool } from "@colloquy/runtime-node";
import type { LlmHandler } from "@colloquy/host";
import OpenAI from "openai";
import { z } from "zod";
import { type ThreadServer, threadServer, type ThreadServerOptions } from "../../src/index.ts";

/** A server and its official client, without a socket between. */
export interface Responding {
  readonly host: Host;
  readonly server: ThreadServer;
  readonly client: OpenAI;
}

/** The tool of the host that these tests call. */
export const weather = tool({
  name: "weather",
  description: "The weather in a city.",
  input: z.object({ city: z.string() }),
  run: ({ city }) => `Rain in ${city}`,
});

/** A tool that a person approves. */
export const refund = tool({
  name: "refund",
  description: "Refunds an order.",
  input: z.object({ order: z.string() }),
  approval: "always",
  run: ({ order }) => `Refunded ${order}`,
});

/** A tool of the caller, as a request declares it. */
export const lookUp = {
  type: "function",
  name: "look_up",
  description: "Looks up a customer.",
  parameters: { type: "object", properties: { id: { type: "string" } }, required: ["id"], additionalProperties: false },
  strict: true,
} as const;

export const responding = (
  llm: LlmHandler,
  options: Partial<HostOptions> & { readonly store?: Store } = {},
  serving: ThreadServerOptions = {},
): Responding => {
  const host = createHost({ llm, store: memoryStore(), ...options });
  return { host, ...respondingOf(host, serving) };
};

/** Returns a server and client for an existing host. */
export const respondingOf = (host: Host, serving: ThreadServerOptions = {}): Omit<Responding, "host"> => {
  const server = threadServer(host, serving);
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> =>
    server.fetch(new Request(url, init));
  const client = new OpenAI({ apiKey: "none", baseURL: "http://localhost/v1", fetch, maxRetries: 0 });
  return { server, client };
};

/** Returns the events of a stream as they are on the wire. Sends a POST if there is a body. */
export const streamed = async (
  server: ThreadServer,
  path: string,
  body?: object,
): Promise<readonly OpenAI.Responses.ResponseStreamEvent[]> => {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await server.fetch(new Request(`http://localhost${path}`, body === undefined ? {} : init));
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${text}`);
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("event: "))
    .map((block) => JSON.parse(block.slice(block.indexOf("\ndata: ") + 7)));
};

/** Makes the result of a caller's tool, as an input has it. */
export const outputOf = (callId: string, output: string) =>
  ({ type: "function_call_output", call_id: callId, output }) as const;
export const approvalOf = (id: string, approve: boolean) =>
  ({ type: "mcp_approval_response", approval_request_id: id, approve }) as const;

/** Returns the ids of the first caller's call and the first approval that a response waits for. */
export const waitsFor = ({ output }: OpenAI.Responses.Response) => ({
  call: output.flatMap((item) => (item.type === "function_call" ? [item.call_id] : []))[0] ?? "",
  approval: output.flatMap((item) => (item.type === "mcp_approval_request" ? [item.id] : []))[0] ?? "",
});
