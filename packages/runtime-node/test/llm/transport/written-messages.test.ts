import {
  type CallLlm,
  type Message,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  toolCallsOf,
  toolResultOf,
} from "@colloquy/machine";
import fc from "fast-check";
import { AzureOpenAI } from "openai";
import { describe, expect, test } from "vitest";
import { chatMessages, responseItems } from "../../../src/llm/http-handlers.ts";
import { type MessageFormat, messageWriter, writtenBody } from "../../../src/llm/transport/written-messages.ts";
import { dialects } from "../../../src/llm/wire/dialects.ts";
import { type Wire, wireMessages, WireState } from "../../../src/llm/wire/messages.ts";
import { ToolsOnWire } from "../../../src/llm/wire/tools.ts";
import { callOf as callWith, perform } from "../call.ts";
import { openaiChat } from "../../../src/llm/openai.ts";
import { runs } from "../../../../../test/runs.ts";

const formats: { readonly [name: string]: MessageFormat } = {
  "chat messages": chatMessages,
  "response items": responseItems,
};

let made = 0;

const common: Wire = { dialect: dialects["common"] ?? expect.unreachable(), origin: "here m", format: null };
const wireOf = (): Wire => common;

/** Writes all messages without any cached one. */
const whole = (
  format: MessageFormat,
  messages: readonly Message[],
  variant = "",
  wire: Wire = common,
): readonly unknown[] => {
  const state = new WireState();
  return format(wireMessages(messages, wire, state), variant, state);
};

/** Dialects whose messages depend on those before them, each in its own way. */
const wires: readonly Wire[] = ["common", "anthropic", "gemini", "mistral", "alternating", "kimi"].map((name) => ({
  ...common,
  dialect: dialects[name] ?? expect.unreachable(),
}));

/** Messages that a thread gains together: a question, an answer, or calls and their results. */
const units: fc.Arbitrary<readonly Message[]> = fc.oneof(
  fc.string({ unit: "grapheme" }).map((content) => [messageFromDraft(`${made++}`, { role: "user", content })]),
  fc.string().map((content) => {
    const id = `${made++}`;
    return [messageFromReply(id, id, { content: [{ type: "reasoning", text: "hm" }, ...textOf(content)] })];
  }),
  fc.array(fc.string(), { minLength: 1, maxLength: 3 }).map((texts) => {
    const id = `${made++}`;
    const toolCalls = texts.map((_, index) => ({ id: `call_${index}`, name: "look", arguments: "{}" }));
    const reply = messageFromReply(id, id, { toolCalls });
    return [
      reply,
      ...toolCallsOf(reply).map((call, index) => messageFromResult(call, "completed", texts[index] ?? "")),
    ];
  }),
);

const textOf = (text: string): readonly { readonly type: "text"; readonly text: string }[] =>
  text === "" ? [] : [{ type: "text", text }];

/** The changes to a thread's messages before its next call. */
const changes = fc.oneof(
  { weight: 6, arbitrary: fc.record({ change: fc.constant("grows" as const), by: units }) },
  fc.record({ change: fc.constant("is cut in front" as const), at: fc.nat() }),
  fc.record({ change: fc.constant("goes back" as const), by: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ change: fc.constant("has another in the place of one" as const), at: fc.nat(), by: units }),
);

type Change = typeof changes extends fc.Arbitrary<infer One> ? One : never;

const changed = (messages: readonly Message[], change: Change): readonly Message[] => {
  const at = "at" in change ? change.at % (messages.length + 1) : 0;
  switch (change.change) {
    case "grows":
      return [...messages, ...change.by];
    case "is cut in front":
      return messages.slice(at);
    case "goes back":
      return messages.slice(0, -change.by);
    case "has another in the place of one": {
      const replaced = messages[at];
      const result = replaced === undefined ? undefined : toolResultOf(replaced);
      // Policies keep rounds whole, so a result gives way only to another of its call, as one that is shortened.
      const other = result === undefined ? change.by.slice(0, 1) : [messageFromResult(result, "completed", "short")];
      return messages.toSpliced(at, 1, ...other);
    }
  }
};

const callOf = (threadId: string, messages: readonly Message[], purpose: CallLlm["purpose"] = "answer"): CallLlm =>
  callWith({ threadId, messages, purpose });

describe.each(Object.entries(formats))("%s", (_, format) => {
  test("are written again from the first on if that was replaced", () => {
    const write = messageWriter(format, wireOf);
    const said = (id: string, role: "system" | "user", content: string) => messageFromDraft(id, { role, content });
    const others = [
      said("1", "user", "?"),
      messageFromReply("1.1", "1.1", { content: "Yes." }),
      said("2", "user", "!"),
    ];
    for (const words of ["Be brief.", "Be kind."]) {
      const messages = [said("0", "system", words), ...others];
      expect(JSON.parse(write(callOf("thread", messages)).json)).toEqual(whole(format, messages));
    }
  });

  test("are written as if none was known, whatever became of them, of however many threads, within any bound, in any dialect", () => {
    const steps = fc.array(
      fc.record({
        thread: fc.nat(1),
        change: changes,
        stored: fc.constantFrom(false, false, false, true),
        summary: fc.constantFrom(false, false, false, true),
      }),
      { maxLength: 30, size: "max" },
    );
    fc.assert(
      fc.property(
        steps,
        fc.constantFrom(0, 300, 1_500, undefined),
        fc.constantFrom(...wires),
        (played, bytes, wire) => {
          const write = messageWriter(format, () => wire, bytes);
          const threads = new Map<number, readonly Message[]>();
          for (const { thread, change, stored, summary } of played) {
            const messages = changed(threads.get(thread) ?? [], change);
            threads.set(thread, messages);
            const variant = stored ? "stored" : "";
            const written = write(callOf(`t${thread}`, messages, summary ? "summary" : "answer"), variant);
            const anew = whole(format, messages, variant, wire);
            expect(written.json).toBe(JSON.stringify(anew));
            const body = { model: "m", missing: undefined, messages: written, tools: [{ name: "look" }] };
            expect(writtenBody(body)).toBe(JSON.stringify({ ...body, messages: anew }));
            expect(JSON.stringify(body)).toBe(writtenBody(body));
          }
        },
      ),
      { numRuns: runs(80) },
    );
  });

  test("have the images of a round after its last result, as if all were written at once", () => {
    const write = messageWriter(format, wireOf);
    const toolCalls = ["a", "b"].map((id) => ({ id, name: "look", arguments: "{}" }));
    const round = messageFromReply("1.1", "1.1", { toolCalls });
    const image = { type: "image", url: "data:image/png;base64,AA==" } as const;
    const results = toolCallsOf(round).map((call) => messageFromResult(call, "completed", [image]));
    const asked = [messageFromDraft("1.0", { role: "user", content: "?" }), round, ...results];
    for (const messages of [asked, [...asked, messageFromDraft("2.0", { role: "user", content: "!" })]])
      expect(JSON.parse(write(callOf("thread", messages)).json)).toEqual(whole(format, messages));
  });

  test("are written once each, but for those of the newest round", () => {
    let count = 0;
    const counting: MessageFormat = (messages, ...more) => {
      count += messages.length;
      return format(messages, ...more);
    };
    const write = messageWriter(counting, wireOf);
    const messages: Message[] = [];
    for (let turn = 0; turn < 300; turn++) {
      const reply = messageFromReply(`${turn}.1`, `${turn}.1`, {
        toolCalls: [{ id: "c", name: "look", arguments: "{}" }],
      });
      messages.push(messageFromDraft(`${turn}.0`, { role: "user", content: "Where?" }));
      write(callOf("t", [...messages]));
      messages.push(reply, ...toolCallsOf(reply).map((call) => messageFromResult(call, "completed", "there")));
      write(callOf("t", [...messages]));
      messages.push(messageFromReply(`${turn}.2`, `${turn}.2`, { content: "There." }));
    }
    expect(count).toBeLessThan(2 * messages.length);
  });
});

test("what was kept of a thread that was called long ago falls out first, and a thread that is too large is not kept", () => {
  const counts = new Map<string, number>();
  let thread = "";
  const counting: MessageFormat = (messages, ...more) => {
    counts.set(thread, (counts.get(thread) ?? 0) + messages.length);
    return chatMessages(messages, ...more);
  };
  const write = messageWriter(counting, wireOf, 3_000);
  const said = (id: string, content: string): Message => messageFromDraft(id, { role: "user", content });
  const writes = (name: string, messages: readonly Message[]): number => {
    thread = name;
    counts.clear();
    write(callOf(name, messages));
    return counts.get(name) ?? 0;
  };
  const long = "x".repeat(500);
  const [a, b, c] = ["a", "b", "c"].map((name) => [said("1", `${name} ${long}`), said("2", name)] as const);
  if (a === undefined || b === undefined || c === undefined) throw new Error("there are three");
  expect([writes("a", a), writes("b", b), writes("a", a)]).toEqual([2, 2, 1]);
  // The cache has room for two threads.
  expect(writes("c", c)).toBe(2);
  expect([writes("a", a), writes("c", c), writes("b", b)]).toEqual([1, 1, 2]);
  const large = [said("1", "y".repeat(2_000)), said("2", "y")];
  expect([writes("d", large), writes("d", large), writes("b", b)]).toEqual([2, 2, 1]);
  // The cache also keeps the messages' JSON, of which the newest alone may be large.
  const largeAtLast = large.toReversed();
  expect([writes("e", largeAtLast), writes("e", largeAtLast), writes("b", b)]).toEqual([2, 2, 1]);
});

test("a writer writes the calls and results that a server gets as texts once each", () => {
  let count = 0;
  const counting: MessageFormat = (messages, ...more) => {
    count += messages.length;
    return chatMessages(messages, ...more);
  };
  const write = messageWriter(counting, wireOf);
  const reply = messageFromReply("1.1", "1.1", { toolCalls: [{ id: "c", name: "look", arguments: "{}" }] });
  const messages = [
    messageFromDraft("1", { role: "user", content: "Where?" }),
    reply,
    ...toolCallsOf(reply).map((call) => messageFromResult(call, "completed", "there")),
    messageFromDraft("2", { role: "user", content: "Sure?" }),
  ];
  const writes = (): number => {
    count = 0;
    write(new ToolsOnWire([], { ...common.dialect, callsWithoutTools: "text" }).written(callOf("t", messages)));
    return count;
  };
  expect([writes(), writes()]).toEqual([4, 1]);
});

describe("the request of a call", () => {
  const seen: { url: string; body: unknown; type: string | null }[] = [];
  const answer = JSON.stringify({
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "ok" } }],
  });
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const type = new Headers(init?.headers).get("content-type");
    seen.push({ url: String(url instanceof Request ? url.url : url), body: init?.body, type });
    return new Response(answer, { headers: { "content-type": "application/json" } });
  };
  const messages = [messageFromDraft("1", { role: "user", content: "why? \u{1F600}" })];

  test("goes through a client that looks at its body, as that of Azure does", async () => {
    const client = new AzureOpenAI({ apiKey: "k", endpoint: "http://127.0.0.1", apiVersion: "2024-10-21", fetch });
    seen.length = 0;
    expect((await perform(openaiChat({ client, model: "gpt" }), callOf("t", messages)).outcome).type).toBe("completed");
    expect(seen[0]?.url).toContain("/openai/deployments/gpt/chat/completions");
  });

  test("needs a bound that is a number of bytes", () => {
    for (const writtenBytes of [-1, 0.5, Number.NaN])
      expect(() => openaiChat({ apiKey: "k", writtenBytes })).toThrow(
        /openaiChat: writtenBytes must be a whole number/,
      );
  });
});
