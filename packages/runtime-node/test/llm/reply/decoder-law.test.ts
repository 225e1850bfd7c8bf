import { replyFromChatMessage } from "@colloquy/interchange";
import { checkChatDecoder, type ChatDecoder, LawBroken } from "@colloquy/runtime-test/laws";
import type { Json, JsonObject } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { ChatAnswer, type DecodedChat } from "../../../src/llm/reply/chat-answer.ts";
import { isObject, listOf, textOf } from "../../../src/llm/json/loose-json.ts";
import { usageFromWire } from "../../../src/llm/reply/usage.ts";
import { spread } from "../../../../../test/runs.ts";

/** A fault of a decoder, as a change to the input or output of the right one. */
interface Fault {
  readonly bytes?: (piece: Uint8Array) => Uint8Array;
  readonly chunk?: (chunk: JsonObject) => JsonObject;
  /** A change to each entry of `tool_calls`. */
  readonly entry?: (entry: JsonObject) => JsonObject;
  readonly chat?: (chat: DecodedChat, chunks: readonly JsonObject[]) => DecodedChat;
}

const decoderWith =
  ({ bytes = (piece) => piece, chunk = (each) => each, entry, chat = (each) => each }: Fault): ChatDecoder =>
  (pieces) => {
    const chunks: JsonObject[] = [];
    class Faulty extends ChatAnswer {
      protected override read(value: JsonObject): JsonObject {
        chunks.push(value);
        return chunk(entry === undefined ? value : withEntries(value, entry));
      }
    }
    const answer = new Faulty(replyFromChatMessage, undefined, true);
    for (const piece of pieces) answer.feed(bytes(piece));
    answer.end();
    const decoded = chat(answer.decoded(), chunks);
    const message = decoded.choices[0]?.message ?? {};
    const usage = usageFromWire(decoded.usage);
    return {
      text: textOf(message["content"]),
      calls: listOf(message["tool_calls"]).map((call) => {
        const called = isObject(call) ? call["function"] : undefined;
        return isObject(called)
          ? { name: textOf(called["name"]), arguments: textOf(called["arguments"]) }
          : { name: "", arguments: "" };
      }),
      usage: usage === undefined ? null : { input: usage.inputTokens, output: usage.outputTokens },
    };
  };

const withChoices = (chunk: JsonObject, change: (choice: JsonObject) => JsonObject): JsonObject => ({
  ...chunk,
  choices: listOf(chunk["choices"]).map((choice): Json => (isObject(choice) ? change(choice) : choice)),
});

const withEntries = (chunk: JsonObject, change: (entry: JsonObject) => JsonObject): JsonObject =>
  withChoices(chunk, ({ delta, ...choice }) => {
    if (!isObject(delta)) return { ...choice, delta: delta ?? null };
    const entries = listOf(delta["tool_calls"]).map((each) => (isObject(each) ? change(each) : each));
    return { ...choice, delta: { ...delta, tool_calls: entries } };
  });

/** Returns the entry with changed arguments. */
const withArguments = (entry: JsonObject, change: (given: Json | undefined) => Json | undefined): JsonObject => {
  const { function: called } = entry;
  return isObject(called)
    ? { ...entry, function: { ...called, arguments: change(called["arguments"]) } }
    : { ...entry, arguments: change(entry["arguments"]) };
};

const without = (object: JsonObject, name: string): JsonObject => {
  const { [name]: _, ...rest } = object;
  return rest;
};

let drawn = 0;

const faults: Readonly<Record<string, Fault>> = {
  "decodes each piece of the bytes by itself": {
    bytes: (piece) => new TextEncoder().encode(new TextDecoder("utf-8", { ignoreBOM: true }).decode(piece)),
  },
  "knows one line end": { bytes: (piece) => piece.map((byte) => (byte === 13 ? 32 : byte)) },
  "trusts the index before the id": { entry: (entry) => ("index" in entry ? without(entry, "id") : entry) },
  "trusts no index": { entry: (entry) => without(entry, "index") },
  "knows indexes that are numbers": {
    entry: (entry) => (typeof entry["index"] === "string" ? without(entry, "index") : entry),
  },
  "takes each entry with a name for a call": {
    entry: (entry) => {
      const called = isObject(entry["function"]) ? entry["function"] : entry;
      return "name" in called ? { ...entry, id: `drawn-${drawn++}` } : entry;
    },
  },
  "wants arguments to be a text": {
    entry: (entry) => withArguments(entry, (given) => (typeof given === "string" ? given : "")),
  },
  // The decoder does not parse a text that is not a sequence of objects.
  "joins whole objects": { entry: (entry) => withArguments(entry, (given) => (given === "{}" ? "{};" : given)) },
  "wants a function in each entry": {
    entry: (entry) => (isObject(entry["function"]) ? entry : without(without(entry, "name"), "arguments")),
  },
  "reads the first choice": {
    chunk: (chunk) => ({
      ...chunk,
      choices: listOf(chunk["choices"]).filter((choice) => isObject(choice) && choice["index"] === 0),
    }),
  },
  "takes the last usage": {
    chat: (chat, chunks) => ({ ...chat, usage: chunks.map(({ usage }) => usage).findLast(isObject) ?? chat.usage }),
  },
  "looks for usage in one place": {
    chunk: (chunk) => withChoices(without(chunk, "x_groq"), (choice) => without(choice, "usage")),
  },
};

describe("the law of decoders", () => {
  test("holds for openaiChat's", async () => {
    await checkChatDecoder(decoderWith({}), { seed: 20_261_127 });
  });

  test.each(spread(Object.entries(faults), 4))("catches a decoder that %s", async (_, fault) => {
    await expect(checkChatDecoder(decoderWith(fault), { seed: 20_261_127 })).rejects.toThrow(LawBroken.name);
  });
});
