import { describe, expect, test } from "vitest";
import { isJsonObject } from "../src/exchange/json.ts";
import { fromChatMessages, toChatMessages } from "../src/chat/messages.ts";
import { fromModelMessages, toModelMessages } from "../src/ai-sdk/model-messages.ts";
import { fromResponseItems, toResponseItems } from "../src/responses/items.ts";
import { fromUiMessages, toUiMessages } from "../src/ai-sdk/ui-messages.ts";
import type { JsonObject, Message } from "@colloquy/machine";
import { canonical } from "./canonical.ts";
import { type Format, right, threadOf } from "./laws.ts";
import { recordingsFolder, recordingsOf } from "./recordings.ts";

const folder = recordingsFolder();

// Recordings may lack a value or have another type; both count as empty.
const object = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
const objects = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const records = (file: string): readonly JsonObject[] => objects(recordingsOf(folder, file));

/** Returns the conversations as chat messages: whole cases, and the bodies of requests as sent. */
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

/** Returns the conversations as Responses items: cases with all inputs and outputs, and requests with their answers. */
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

/** Checks that a message is not an empty one of a model, which accompanies the model's other output. */
const saysSomething = ({ role, content }: JsonObject): boolean => role !== "assistant" || content !== "";

/** Removes differences between clients from an item. */
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

/** The results of importing and exporting recorded conversations. */
interface Fares<Item> {
  /** Imported and exported without loss: the input, and the output. */
  readonly whole: readonly { readonly before: readonly Item[]; readonly after: readonly Item[] }[];
  /** Imported with reported losses. */
  readonly lossy: number;
  /** Imported with a repair. */
  readonly repaired: number;
  readonly refused: readonly string[];
}

const fares = <Item>(conversations: readonly (readonly Item[])[], { read, write }: Format): Fares<Item> => {
  const whole: { before: readonly Item[]; after: readonly Item[] }[] = [];
  const refused: string[] = [];
  let lossy = 0;
  let repaired = 0;
  for (const before of conversations) {
    const mended = read(before, { repair: true });
    const strict = read(before);
    if ("left" in mended) refused.push(mended.left.reason);
    else if ("left" in strict) {
      // A thread takes every repaired conversation.
      threadOf(mended.right);
      repaired++;
    } else {
      const { value, losses } = write(threadOf(strict.right));
      // Every format writes a list of its items.
      if (losses.length + strict.right.losses.length === 0) whole.push({ before, after: value as readonly Item[] });
      else lossy++;
    }
  }
  return { whole, lossy, repaired, refused };
};

const report = (what: string, { whole, lossy, repaired, refused }: Fares<unknown>): void =>
  console.log(
    `${what}: ${whole.length} come and go as they are, ${lossy} with losses, ${repaired} with a repair, ${refused.length} are refused`,
  );

const chatFormat: Format = {
  read: fromChatMessages,
  write: (messages) => toChatMessages(messages, { missingIds: "absent" }),
};
const responseFormat: Format = { read: fromResponseItems, write: toResponseItems };
const modelFormat: Format = { read: fromModelMessages, write: toModelMessages };
const uiFormat: Format = { read: fromUiMessages, write: toUiMessages };

describe.skipIf(folder === null)("recorded conversations", () => {
  test("of chat completions come and go as they were", () => {
    const result = fares(chats(), chatFormat);
    report("chat messages", result);
    expect(result.refused.length).toBeLessThan(result.whole.length / 20);
    expect(result.whole.length).toBeGreaterThan(0);
    for (const { before, after } of result.whole) expect(after.map(canonical)).toEqual(before.map(canonical));
  });

  test("of the Responses API come and go as they were", () => {
    const result = fares(responses(), responseFormat);
    report("Responses items", result);
    expect(result.refused.length).toBeLessThan(result.whole.length / 20);
    expect(result.whole.length).toBeGreaterThan(0);
    for (const { before, after } of result.whole)
      expect(after.filter(saysSomething).map(canonicalItem)).toEqual(before.filter(saysSomething).map(canonicalItem));
  });

  test.each([
    { name: "model messages", format: modelFormat },
    { name: "UI messages", format: uiFormat },
  ])("go through $name and come back", ({ name, format }) => {
    const threads = [
      ...chats().map((each) => fromChatMessages(each)),
      ...responses().map((each) => fromResponseItems(each)),
    ];
    const exported = threads
      .flatMap((read) => ("right" in read ? [threadOf(read.right)] : []))
      .map((messages) => ({ messages, ...format.write(messages) }));
    const whole = exported.filter(({ losses }) => losses.length === 0);
    console.log(`${name}: ${whole.length} of ${exported.length} without loss`);
    expect(whole.length).toBeGreaterThan(exported.length / 2);
    for (const { messages, value } of whole)
      expect(digests(threadOf(right(format.read(value))))).toEqual(digests(messages));
  });
});

const digests = (messages: readonly Message[]): readonly string[] => messages.map(({ digest }) => digest);
