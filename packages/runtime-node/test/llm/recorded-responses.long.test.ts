import { fromResponseItems, toResponseItems } from "@colloquy/interchange";
import {
  type Json,
  type JsonObject,
  type Message,
  messageFromDraft,
  messageFromReply,
  messagesFromSeed,
} from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { openaiResponses } from "../../src/llm/openai.ts";
import { isObject, listOf, parseJson } from "../../src/llm/json/loose-json.ts";
import { decodeResponseBody, decodeResponseStream } from "../../src/llm/reply/response-answer.ts";
import { callOf, perform } from "./call.ts";
import { recordingsFolder, recordingsOf } from "../../../interchange/test/recordings.ts";
import { answering, chatServer } from "./server.ts";

interface Exchange {
  readonly id: string;
  readonly api: string;
  readonly request: { readonly body: JsonObject };
  readonly response: { readonly status: number; readonly body?: JsonObject; readonly sse?: string };
}

const folder = recordingsFolder();
// Cast: the recordings describe their file so.
const exchanges = (recordingsOf(folder, "exchanges.jsonl") as readonly Exchange[]).filter(
  ({ api }) => api === "responses",
);

describe.skipIf(folder === null)("recorded answers of the Responses API", () => {
  test("are whole, and their items come back from a thread as they were", async () => {
    expect(exchanges.length).toBeGreaterThan(0);
    for (const { id, response } of exchanges) {
      const decoded =
        response.sse === undefined
          ? decodeResponseBody(JSON.stringify(response.body))
          : await decodeResponseStream(new TextEncoder().encode(response.sse));
      const ended = endOf(response);
      expect({ id, ...decoded, output: decoded?.output.map(canonical) }).toEqual({
        id,
        output: listOf(ended["output"]).filter(isObject).map(canonical),
        status: ended["status"],
        usage: ended["usage"],
        model: ended["model"],
        responseId: ended["id"],
      });
    }
  });

  test("come to the reply that they are, to requests that are made as they were", async () => {
    let current: Exchange | undefined;
    const { baseURL, bodies } = await chatServer((...to) => {
      const { status = 200, sse, body } = current?.response ?? {};
      const headers = { "content-type": sse === undefined ? "application/json" : "text/event-stream" };
      answering(sse ?? JSON.stringify(body), status, headers)(...to);
    });
    const handler = openaiResponses({ baseURL, apiKey: "k", stream: false });
    for (current of exchanges) {
      const { input, ...parameters } = current.request.body;
      const model = { include: null, ...parameters };
      const outcome = await perform(handler, callOf({ model, messages: messagesOf(input) })).outcome;
      const { include, ...others } = model;
      const { input: sent, ...rest } = bodies.at(-1) ?? {};
      expect({ ...rest, id: current.id }).toEqual({
        store: false,
        ...others,
        ...(include === null ? {} : { include }),
        id: current.id,
      });
      expect({ id: current.id, input: itemsOf(sent) }).toEqual({ id: current.id, input: itemsOf(input) });
      if (outcome.type === "failed") throw new Error(`${current.id}: ${outcome.failure.message}`);
      const back = toResponseItems([messageFromReply("1.1", "1.1", outcome.reply)]).value;
      expect(back.map(canonical)).toEqual(itemsOf(endOf(current.response)["output"]));
    }
  });
});

/** Returns the final answer. */
const endOf = ({ sse, body = {} }: Exchange["response"]): JsonObject => {
  if (sse === undefined) return body;
  const events = sse.split("\n").flatMap((line) => (line.startsWith("data:") ? [parseJson(line.slice(5))] : []));
  const end = events.filter(isObject).findLast((event) => event["type"] === "response.completed");
  return end !== undefined && isObject(end["response"]) ? end["response"] : {};
};

const itemsOf = (input: Json | undefined): readonly JsonObject[] =>
  typeof input === "string"
    ? [canonical({ role: "user", content: input })]
    : listOf(input).filter(isObject).map(canonical);

/** Returns an item without empty members, its content in parts. */
const canonical = ({ type = "message", content, output, ...item }: JsonObject): JsonObject => {
  const said = content ?? (item["role"] === undefined ? undefined : "");
  const parts = partsOf(said);
  return present({
    type,
    ...item,
    ...(parts === undefined ? {} : { content: parts }),
    ...(output === undefined ? {} : { output: partsOf(output) ?? output }),
  });
};

const partsOf = (content: Json | undefined): Json | undefined => {
  if (typeof content === "string") return content === "" ? undefined : [{ text: content }];
  return Array.isArray(content)
    ? content.map((part: Json) => {
        if (!isObject(part) || typeof part["text"] !== "string") return part;
        const { type: _type, ...others } = part;
        return present(others);
      })
    : content;
};

const present = (object: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(object).filter(
      ([, value]) => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  );

const messagesOf = (input: Json | undefined): readonly Message[] => {
  const read = fromResponseItems(input, { repair: true });
  if (Either.isLeft(read)) throw new Error(read.left.reason);
  const { system, turns } = read.right;
  const said = turns.flatMap((drafts, turn) => {
    const made = messagesFromSeed(turn + 1, drafts);
    if (Either.isLeft(made)) throw new Error(made.left);
    return made.right;
  });
  const lead = typeof system === "string" ? { role: "system" as const, content: system } : system;
  return lead === null ? said : [messageFromDraft("s1", lead), ...said];
};
