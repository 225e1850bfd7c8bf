import type { LlmHandler, LlmOutcome } from "@colloquy/host";
import {
  type Json,
  type JsonObject,
  type Message,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  type SeedDraft,
  type ToolCallPart,
  toolCallsOf,
  type ToolDeclaration,
} from "@colloquy/machine";
import { fromChatMessage } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { isObject, listOf, textOf } from "../../src/llm/json/loose-json.ts";
import { openaiChat } from "../../src/llm/openai.ts";
import { callOf, perform } from "./call.ts";
import { canonical } from "../../../interchange/test/canonical.ts";
import { recordingsFolder, recordingsOf } from "../../../interchange/test/recordings.ts";
import { answering, chatServer } from "./server.ts";

interface Exchange {
  readonly id: string;
  readonly api: string;
  readonly host?: string;
  readonly request: { readonly body: JsonObject };
  readonly response: { readonly status: number; readonly body?: JsonObject; readonly sse?: string };
}

/** Makes a handler that writes requests for the recorded host, or else for this server. */
const handlerOf = ({ host = "" }: Exchange, url: string): LlmHandler => {
  const baseURL = host === "" ? url : `https://${host}/v1`;
  return openaiChat({
    baseURL,
    ...(host === "" ? { dialect: "lenient" } : {}),
    apiKey: "k",
    tools: [],
    stream: false,
    includeUsage: false,
    fetch: (to, init) => fetch((to instanceof Request ? to.url : String(to)).replace(baseURL, url), init),
  });
};

interface ErrorRecording {
  readonly id: string;
  readonly stream: boolean;
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string | null>>;
    readonly body: unknown;
  };
}

const folder = recordingsFolder();
// Cast: the recordings describe their files so.
const exchanges = (recordingsOf(folder, "exchanges.jsonl") as readonly Exchange[]).filter(
  ({ api }) => api === "chat.completions",
);
const errors = recordingsOf(folder, "http-errors.jsonl") as readonly ErrorRecording[];

describe.skipIf(folder === null)("recorded requests", () => {
  test("are made as they were, and their answers understood", async () => {
    expect(exchanges.length).toBeGreaterThan(0);
    let current: Exchange | undefined;
    const { baseURL, bodies } = await chatServer((...to) => {
      const { status = 200, sse, body } = current?.response ?? {};
      const headers = { "content-type": sse === undefined ? "application/json" : "text/event-stream" };
      answering(sse ?? JSON.stringify(body), status, headers)(...to);
    });
    for (current of exchanges) {
      const handler = handlerOf(current, baseURL);
      const { messages, ...model } = current.request.body;
      const { outcome } = perform(handler, callOf({ model, messages: messagesOf(listOf(messages)) }));
      expectAnswer(await outcome, current.response);
      const { messages: sent, ...parameters } = bodies.at(-1) ?? {};
      expect({ ...parameters, id: current.id }).toEqual({ ...model, id: current.id });
      expect(canonicalOf(sent)).toEqual(canonicalOf(messages));
    }
  });

  test("have tools as they are declared", async () => {
    const declarable = exchanges.filter(({ request }) => declarationsOf(request.body["tools"]) !== null);
    expect(declarable.length).toBeGreaterThan(0);
    const { baseURL, bodies } = await chatServer(answering("{}"));
    for (const { request } of declarable) {
      const { messages: _, tools, ...model } = request.body;
      const handler = openaiChat({
        baseURL,
        apiKey: "k",
        tools: declarationsOf(tools) ?? [],
        stream: false,
        includeUsage: false,
      });
      await perform(handler, callOf({ model })).outcome;
      expect(bodies.at(-1)?.["tools"]).toEqual(tools);
    }
  });
});

const canonicalOf = (messages: Json | undefined): readonly JsonObject[] =>
  listOf(messages).filter(isObject).map(canonical);

/** Returns the messages of a recorded request, each result under the newest call with its id. */
const messagesOf = (wire: readonly unknown[]): readonly Message[] => {
  const calls: ToolCallPart[] = [];
  return wire.map((recorded, index) => {
    const draft = Either.getOrElse((problem: string): SeedDraft => {
      throw new Error(problem);
    })(fromChatMessage(recorded));
    const id = `1.${index}`;
    if (draft.role === "tool") {
      const { toolCallId, content } = draft;
      const call = calls.findLast(({ providerCallId }) => providerCallId === toolCallId);
      return messageFromResult(call ?? { callId: id, providerCallId: toolCallId, name: "" }, "completed", content);
    }
    const message = draft.role === "assistant" ? messageFromReply(id, id, draft) : messageFromDraft(id, draft);
    calls.push(...toolCallsOf(message));
    return message;
  });
};

const expectAnswer = (outcome: LlmOutcome, { body }: Exchange["response"]): void => {
  if (body === undefined) return;
  const [choice] = listOf(body["choices"]).filter(isObject);
  if (choice === undefined) {
    expect(outcome.type).toBe("failed");
    return;
  }
  const { usage } = body;
  const { tool_calls: calls } = isObject(choice["message"]) ? choice["message"] : {};
  expect(outcome).toMatchObject({
    type: "completed",
    finishReason: choice["finish_reason"] ?? null,
    ...(isObject(usage) ? { usage: { totalTokens: usage["total_tokens"] } } : {}),
  });
  expect(outcome.type === "completed" ? (outcome.reply.toolCalls ?? []).length : null).toBe(listOf(calls ?? []).length);
};

/** Returns the declarations of tools that are plain functions with a description and parameters; null for others. */
const declarationsOf = (tools: unknown): readonly ToolDeclaration[] | null => {
  if (!Array.isArray(tools)) return null;
  const functions = tools.map((tool: unknown) =>
    isObject(tool) && isObject(tool["function"]) ? tool["function"] : {},
  );
  const plain = functions.every((declared) => Object.keys(declared).sort().join() === "description,name,parameters");
  const typed = tools.every((tool: unknown) => isObject(tool) && tool["type"] === "function");
  if (!plain || !typed) return null;
  return functions.map(({ name, description, parameters }) => ({
    name: textOf(name),
    description: textOf(description),
    parameters: isObject(parameters) ? parameters : {},
  }));
};

describe.skipIf(folder === null)("recorded errors", () => {
  const kinds: Readonly<Record<number, readonly string[]>> = {
    200: ["unknown", "bad_request", "rate_limit", "overloaded", "context_length", "content_filter", "timeout"],
    400: ["bad_request", "context_length", "content_filter"],
    401: ["auth"],
    403: ["auth", "content_filter"],
    404: ["bad_request"],
    429: ["rate_limit", "overloaded"],
    500: ["unknown", "overloaded", "context_length"],
  };

  test.each(errors.map((recorded) => [recorded.id, recorded] as const))("%s", async (_, { response, stream }) => {
    const { status, body } = response;
    const headers = Object.fromEntries(
      Object.entries(response.headers).filter((header): header is [string, string] => header[1] !== null),
    );
    const { baseURL } = await chatServer(
      answering(typeof body === "string" ? body : JSON.stringify(body), status, headers),
    );
    const outcome = await perform(openaiChat({ baseURL, apiKey: "k", tools: [], stream })).outcome;
    const wait = headers["retry-after"];
    expect(outcome).toMatchObject({
      type: "failed",
      failure: {
        kind: expect.toSatisfy((kind: string) => kinds[status]?.includes(kind) === true),
        message: expect.not.stringMatching(/^$|key provided: (?!\[redacted\])/),
        ...(status < 400 ? {} : { status }),
        ...([400, 401, 404].includes(status) ? { retryable: false } : {}),
        ...(wait === undefined ? {} : { retryAfterMs: Number(wait) * 1000 }),
      },
    });
  });
});
