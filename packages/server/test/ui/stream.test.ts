import { EventRefusedError } from "@colloquy/host";
import { fails, never, reply, type ScriptLine, streams, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { HttpError, toUiMessageStream, type UiMessageChunk, uiMessageStreamResponse } from "../../src/index.ts";
import { messageForUser, textForUser } from "../../src/ui/message-for-user.ts";
import { withErrors } from "../../src/ui/ui-stream.ts";
import { allOf, messageOf, seat, stage } from "./page.ts";

/** Returns the chunks of an ask, each with its type and content, without usage. */
const traceOf = async (script: readonly ScriptLine[], leave = false): Promise<string> => {
  const { host } = stage(script);
  const ask = host.ask("Hello?", { tools: [seat] });
  ask.catch(() => {});
  const chunks: UiMessageChunk[] = [];
  for await (const chunk of toUiMessageStream(ask)) {
    chunks.push(chunk);
    if (leave && chunk.type === "text-delta") ask.abort("enough");
  }
  await host.close();
  return chunks.map(lineOf).join("\n");
};

const lineOf = (chunk: UiMessageChunk): string => {
  const { type, ...fields } =
    "messageMetadata" in chunk ? { ...chunk, messageMetadata: { ...chunk.messageMetadata, usage: undefined } } : chunk;
  return `${type} ${JSON.stringify(fields)}`;
};

test("an answer", async () => {
  expect(
    await traceOf([streams([{ reasoning: "Hm" }, { reasoning: "." }, "Good ", "day."], { finishReason: "end_turn" })]),
  ).toMatchInlineSnapshot(`
    "start {"messageId":"turn-1","messageMetadata":{"turn":1}}
    start-step {}
    reasoning-start {"id":"1.0"}
    reasoning-delta {"id":"1.0","delta":"Hm."}
    reasoning-end {"id":"1.0"}
    text-start {"id":"1.1"}
    text-delta {"id":"1.1","delta":"Good day."}
    text-end {"id":"1.1"}
    finish-step {}
    message-metadata {"messageMetadata":{"turn":1,"status":"completed"}}
    finish {"finishReason":"stop"}"
  `);
});

test("a call of the page's that was cut is not shown as one to run, if the stream knows the tool", async () => {
  const { host } = stage([toolCalls([{ name: "seat", arguments: {} }], { finishReason: "length" }), reply("Where?")]);
  const chunks = await allOf(toUiMessageStream(host.ask("Hello?", { tools: [seat] }), { tools: [seat] }));
  const types = chunks.map(({ type }) => type);
  expect(types).toContain("tool-input-error");
  expect(types).not.toContain("tool-input-available");
  await host.close();
});

test("a step that is made anew after a failed attempt", async () => {
  expect(await traceOf([fails({ kind: "overloaded" }, { partial: "Good m" }), reply("Good day.")]))
    .toMatchInlineSnapshot(`
    "start {"messageId":"turn-1","messageMetadata":{"turn":1}}
    start-step {}
    text-start {"id":"1.0"}
    text-delta {"id":"1.0","delta":"Good m"}
    reset-step {}
    text-start {"id":"1.0"}
    text-delta {"id":"1.0","delta":"Good "}
    text-delta {"id":"1.0","delta":"day."}
    text-end {"id":"1.0"}
    finish-step {}
    message-metadata {"messageMetadata":{"turn":1,"status":"completed"}}
    finish {"finishReason":"stop"}"
  `);
});

test("pieces in another order than a thread keeps them", async () => {
  const call = { toolCall: { name: "echo", arguments: {} } };
  expect(await traceOf([streams(["One", call, " and two."]), reply("Done.")])).toMatchInlineSnapshot(`
    "start {"messageId":"turn-1","messageMetadata":{"turn":1}}
    start-step {}
    text-start {"id":"1.0"}
    text-delta {"id":"1.0","delta":"One"}
    text-end {"id":"1.0"}
    tool-input-start {"toolCallId":"1.1.0","toolName":"echo"}
    tool-input-delta {"toolCallId":"1.1.0","inputTextDelta":"{}"}
    text-start {"id":"1.1"}
    text-delta {"id":"1.1","delta":" and two."}
    reset-step {}
    text-start {"id":"1.0"}
    text-delta {"id":"1.0","delta":"One and two."}
    text-end {"id":"1.0"}
    tool-input-available {"toolCallId":"1.1.0","toolName":"echo","input":{}}
    tool-output-available {"toolCallId":"1.1.0","output":{}}
    finish-step {}
    start-step {}
    text-start {"id":"2.0"}
    text-delta {"id":"2.0","delta":"Done."}
    text-end {"id":"2.0"}
    finish-step {}
    message-metadata {"messageMetadata":{"turn":1,"status":"completed"}}
    finish {"finishReason":"stop"}"
  `);
});

test("a failure, without a word of the provider", async () => {
  expect(await traceOf([fails({ kind: "auth", message: "bad key sk-secret" }, { partial: "Go" })]))
    .toMatchInlineSnapshot(`
    "start {"messageId":"turn-1","messageMetadata":{"turn":1}}
    start-step {}
    text-start {"id":"1.0"}
    text-delta {"id":"1.0","delta":"Go"}
    text-end {"id":"1.0"}
    finish-step {}
    message-metadata {"messageMetadata":{"turn":1,"status":"failed"}}
    error {"errorText":"The assistant is not available right now. Try again in a moment."}
    finish {"finishReason":"error"}"
  `);
});

test("a turn that was cancelled in the middle of a call", async () => {
  const half = { toolCall: { name: "echo", arguments: '{"at' } };
  expect(await traceOf([never({ pieces: [{ reasoning: "Hm" }, half, "Good"] })], true)).toMatchInlineSnapshot(`
    "start {"messageId":"turn-1","messageMetadata":{"turn":1}}
    start-step {}
    reasoning-start {"id":"1.0"}
    reasoning-delta {"id":"1.0","delta":"Hm"}
    reasoning-end {"id":"1.0"}
    tool-input-start {"toolCallId":"1.1.0","toolName":"echo"}
    tool-input-delta {"toolCallId":"1.1.0","inputTextDelta":"{\\"at"}
    text-start {"id":"1.1"}
    text-delta {"id":"1.1","delta":"Good"}
    reset-step {}
    reasoning-start {"id":"1.0"}
    reasoning-delta {"id":"1.0","delta":"Hm"}
    reasoning-end {"id":"1.0"}
    text-start {"id":"1.1"}
    text-delta {"id":"1.1","delta":"Good"}
    text-end {"id":"1.1"}
    finish-step {}
    message-metadata {"messageMetadata":{"turn":1,"status":"cancelled"}}
    abort {"reason":"enough"}
    finish {"finishReason":"interrupted"}"
  `);
});

test("a response, as clients of the protocol read it", async () => {
  const { host } = stage([reply("Hi.")]);
  const response = uiMessageStreamResponse(host.ask("Hello?"), { headers: { "x-mine": "1" } });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "x-vercel-ai-ui-message-stream": "v1",
    "x-mine": "1",
  });
  const text = await response.text();
  expect(text.startsWith('data: {"type":"start","messageId":"turn-1"')).toBe(true);
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  await host.close();
});

test("the SDK's reader takes a refusal for a text", async () => {
  const { host } = stage([streams([{ refusal: "No." }])]);
  const message = await messageOf(await allOf(toUiMessageStream(host.ask("Hello?"))));
  expect(message.parts).toMatchObject([{ type: "step-start" }, { type: "text", text: "No.", state: "done" }]);
  await host.close();
});

test.each<readonly [string, unknown, boolean]>([
  ["a refusal of the server", new HttpError(499, "no"), true],
  ["a failure of the server", new HttpError(500, "no"), false],
  ["a refusal of the thread", new EventRefusedError("t", { kind: "stale", reason: "no" }), true],
  ["any other error with a status", Object.assign(new Error("no"), { status: 404 }), false],
  ["a thrown text", "no", false],
])(
  "a stream that ends with %s shows a sentence, and reports the error to the operator unless it is a refusal",
  async (_, error, isExpected) => {
    async function* failing(): AsyncGenerator<UiMessageChunk, void> {
      yield* [];
      throw error;
    }
    const chunks: UiMessageChunk[] = [];
    const read = async (): Promise<void> => {
      for await (const chunk of withErrors(failing(), () => "It failed.")) chunks.push(chunk);
    };
    const thrown = await read().then(
      () => null,
      (reason: unknown) => ({ reason }),
    );
    expect(chunks).toEqual([{ type: "error", errorText: "It failed." }]);
    expect(thrown).toEqual(isExpected ? null : { reason: error });
  },
);

test("the SDK reads the stream of an ask that joins an open turn", async () => {
  const { host } = stage([toolCalls([{ name: "echo", arguments: {} }]), streams(["It ", "is ", "there."])], {
    machine: { overlap: { type: "steer", max: 1 } },
  });
  const first = host.ask("One?");
  for await (const part of first) if (part.type === "step.started") break;
  const message = await messageOf(await allOf(toUiMessageStream(host.ask("Two?"))));
  expect(message.id).toBe("turn-1");
  expect(message.parts).toMatchObject([{ type: "step-start" }, { type: "text", text: "It is there.", state: "done" }]);
  expect((await first).text).toBe("It is there.");
  await host.close();
});

test("a response asks for a part only when its client reads, and for none after the client left", async () => {
  const taken: string[] = [];
  const parts = {
    next: async () => {
      taken.push("part");
      return { done: false as const, value: { type: "turn.started" as const, turn: 1, askIds: [] } };
    },
    return: async () => {
      taken.push("end");
      return { done: true as const, value: undefined };
    },
  };
  // Cast: the stream reads an ask's parts, and awaits its turn only after them.
  const ask = { [Symbol.asyncIterator]: () => parts } as unknown as Parameters<typeof uiMessageStreamResponse>[0];
  const reader = uiMessageStreamResponse(ask).body?.getReader();
  await new Promise((resolve) => setImmediate(resolve));
  expect(taken).toEqual([]);
  expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('"messageId":"turn-1"');
  expect(taken).toEqual(["part"]);
  await reader?.cancel();
  await expect.poll(() => taken).toEqual(["part", "end"]);
});

test("a stream that waits for its page has the results of the calls that were run meanwhile", async () => {
  const { host } = stage([
    toolCalls([
      { name: "seat", arguments: {} },
      { name: "echo", arguments: { a: 1 } },
    ]),
  ]);
  const chunks = await allOf(
    toUiMessageStream(host.ask("Hello?", { threadId: "t", tools: [seat] }), { thread: host.thread("t") }),
  );
  expect(chunks.filter(({ type }) => type === "tool-output-available")).toMatchObject([
    { toolCallId: "1.1.1", output: { a: 1 } },
  ]);
  expect(chunks.at(-1)).toEqual({ type: "finish", finishReason: "tool-calls" });
  await host.close();
});

test("a stream of a turn that was cancelled without a reason gives none", async () => {
  const { host } = stage([never()]);
  const ask = host.ask("Hello?", { threadId: "t" });
  const chunks: UiMessageChunk[] = [];
  for await (const chunk of toUiMessageStream(ask)) {
    chunks.push(chunk);
    if (chunk.type === "start") await host.thread("t").cancel();
  }
  expect(chunks.filter(({ type }) => type === "abort")).toEqual([{ type: "abort" }]);
  await host.close();
});

test("a page reads the sentence of the server if the function for its errors fails", () => {
  const failing = (): never => {
    throw new Error("a mistake");
  };
  expect(textForUser(new HttpError(404, "no"), failing)).toBe(messageForUser(new HttpError(404, "no")).text);
  expect(textForUser(new HttpError(404, "no"), (_, { kind }) => `It is ${kind}.`)).toBe("It is denied.");
});
