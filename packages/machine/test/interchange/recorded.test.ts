import { describe, expect, test } from "vitest";
import { isJsonObject } from "../../src/interchange/chat-message.ts";
import { fromChatMessages, toChatMessages } from "../../src/interchange/chat-messages.ts";
import { fromModelMessages, toModelMessages } from "../../src/interchange/model-messages.ts";
import { fromResponseItems, toResponseItems } from "../../src/interchange/response-items.ts";
import { fromUiMessages, toUiMessages } from "../../src/interchange/ui-messages.ts";
import type { JsonObject } from "../../src/thread/json.ts";
import type { Message } from "../../src/thread/message.ts";
import { canonical } from "./canonical.ts";
import { right, told } from "./laws.ts";
import { recordingsFolder, recordingsOf } from "./recordings.ts";

const folder = recordingsFolder();

// Reading recordings: a missing or other value stands for an empty one.
const object = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
const objects = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const records = (file: string): readonly JsonObject[] => objects(recordingsOf(folder, file));

/** The conversations as chat messages: cases with all that was said, and the bodies of requests as they were sent. */
const chats = (): readonly (readonly JsonObject[])[] => [
  ...["tau-bench-gpt-4o-airline.jsonl", "chat-cases.jsonl"].flatMap(records).map((recorded) => [
    ...(typeof recorded["system"] === "string" ? [{ role: "system", content: recorded["system"] }] : []),
    ...objects(recorded["seed"]),
    ...objects(recorded["steps"]).map(({ type, message, name, ...fields }) => {
      if (type === "llm") return { role: "assistant", ...object(message) };
      return type === "message"
        ? object(message)
        : { ...fields, role: type, ...(name === undefined || type === "tool" ? {} : { name }) };
    }),
  ]),
  ...records("exchanges.jsonl")
    .map(({ request }) => objects(object(object(request)["body"])["messages"]))
    .filter((messages) => messages.length > 0),
];

/** The conversations as Responses items: cases with all inputs and outputs, and requests with what they were answered. */
const responses = (): readonly (readonly JsonObject[])[] => [
  ...records("responses-cases.jsonl").map(({ steps }) =>
    objects(steps).flatMap(({ items, output }) => objects(items ?? output)),
  ),
  ...records("exchanges.jsonl").flatMap(({ request, response }) => {
    const { input } = object(object(request)["body"]);
    const output = objects(object(object(response)["body"])["output"]);
    if (typeof input === "string") return [[{ role: "user", content: input }, ...output]];
    return Array.isArray(input) ? [[...objects(input), ...output]] : [];
  }),
];

/** All but a message of a model that is empty, which stands beside what the model made instead. */
const saysSomething = ({ role, content }: JsonObject): boolean => role !== "assistant" || content !== "";

/** An item without what clients write differently for the same. */
const canonicalItem = (item: JsonObject): unknown => {
  const { type = "message", content, output, ...rest } = item;
  const said = content ?? output;
  const parts = typeof said === "string" ? [{ type: "text", text: said }] : objects(said);
  const fields = Object.entries(rest).filter(([, value]) => value !== null);
  return {
    type,
    ...Object.fromEntries(fields),
    parts: type === "reasoning" ? said : parts.map(canonicalPart),
  };
};

const canonicalPart = ({ type, annotations, logprobs, ...rest }: JsonObject) => ({
  ...rest,
  type: typeof type === "string" && type.endsWith("_text") ? "text" : type,
  ...(objects(annotations).length === 0 ? {} : { annotations }),
  ...(objects(logprobs).length === 0 ? {} : { logprobs }),
});

const ends = "has no result: give one directly behind it";

describe.skipIf(folder === null)("recorded conversations", () => {
  test("of chat completions come and go as they were", () => {
    const all = chats();
    let whole = 0;
    for (const messages of all) {
      const strict = fromChatMessages(messages);
      if ("left" in strict) {
        // Some stop with calls unanswered, or never had ids that tell calls apart. What is to be done about it is said.
        expect(strict.left.reason).toContain("repair: true");
        expect(told(right(fromChatMessages(messages, { repair: true }))).length).toBeGreaterThan(0);
        continue;
      }
      whole++;
      const { value } = toChatMessages(told(right(strict)), { missingIds: "absent" });
      expect(value.map(canonical)).toEqual(messages.map(canonical));
    }
    console.log(`chat conversations: ${whole} of ${all.length} come and go, the others with a repair`);
    expect(whole).toBeGreaterThan(all.length * 0.9);
  });

  test("of the Responses API come and go as they were", () => {
    const all = responses();
    let whole = 0;
    for (const items of all) {
      const strict = fromResponseItems(items);
      if ("left" in strict) {
        expect(strict.left.reason).toContain(ends);
        expect(right(fromResponseItems(items, { repair: true })).losses.length).toBeGreaterThan(0);
        continue;
      }
      whole++;
      const { value, losses } = toResponseItems(told(right(strict)));
      expect(losses).toEqual([]);
      expect(value.filter(saysSomething).map(canonicalItem)).toEqual(items.filter(saysSomething).map(canonicalItem));
    }
    console.log(`Responses conversations: ${whole} of ${all.length} come and go, the others with a repair`);
    expect(whole).toBeGreaterThan(all.length * 0.8);
  });

  test("go through the AI SDK's formats and come back", () => {
    const threads = [
      ...chats().map((messages) => fromChatMessages(messages)),
      ...responses().map((items) => fromResponseItems(items)),
    ].flatMap((read) => ("right" in read ? [told(read.right)] : []));
    let whole = 0;
    for (const messages of threads) {
      const model = toModelMessages(messages);
      const ui = toUiMessages(messages);
      if (model.losses.length === 0) expect(digests(told(right(fromModelMessages(model.value))))).toEqual(digests(messages));
      if (ui.losses.length === 0) expect(digests(told(right(fromUiMessages(ui.value))))).toEqual(digests(messages));
      if (model.losses.length + ui.losses.length === 0) whole++;
    }
    console.log(`conversations through model and UI messages without loss: ${whole} of ${threads.length}`);
    expect(whole).toBeGreaterThan(threads.length * 0.8);
  });
});

const digests = (messages: readonly Message[]): readonly string[] => messages.map(({ digest }) => digest);
