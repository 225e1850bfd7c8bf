import type { AskPart, CompletedTurn } from "@colloquy/host";
import { noUsage } from "@colloquy/machine";
import { reply, type ScriptLine, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { type ShownAsk, toUiMessageStream, type UiMessageChunk, type UiStreamOptions } from "../../src/index.ts";
import { allOf, stage } from "./page.ts";

const completed = (messages: CompletedTurn["messages"]): CompletedTurn => ({
  threadId: "t",
  askId: "a",
  turn: 1,
  status: "completed",
  text: "",
  messages,
  usage: noUsage,
  finishReason: null,
});

/** Makes an ask that yields these parts and completes its turn, or fails at its end. */
const showing = (
  parts: Iterable<AskPart> | AsyncIterable<AskPart>,
  messages: CompletedTurn["messages"],
  failed?: Error,
): ShownAsk => ({
  // oxlint-disable-next-line unicorn/no-thenable -- a handle is awaited
  then: (resolve, reject) =>
    (failed === undefined ? Promise.resolve(completed(messages)) : Promise.reject<CompletedTurn>(failed)).then(
      resolve,
      reject,
    ),
  async *[Symbol.asyncIterator]() {
    yield* parts;
  },
});

const place = { turn: 1, step: 1 };
const text = (said: string, step = 1, attempt = 1): AskPart => ({
  type: "text.delta",
  turn: 1,
  step,
  attempt,
  text: said,
});
const begins = (step: number): AskPart => ({ type: "step.started", turn: 1, step });
const call: AskPart = { type: "toolCall", ...place, position: 0, callId: "1.1.0", name: "echo", arguments: "{}" };
const started: AskPart = { type: "turn.started", turn: 1, askIds: ["a"] };

/** Runs a turn, and returns its messages. */
const messagesOf = async (...script: readonly ScriptLine[]): Promise<CompletedTurn["messages"]> => {
  const { host } = stage(script);
  const { messages } = await host.ask("Hello?");
  await host.close();
  return messages;
};

/** Returns the chunk types of these parts, with the texts of deltas, without the start and end that all have. */
const typesOf = async (
  parts: readonly AskPart[],
  messages: CompletedTurn["messages"],
  options: UiStreamOptions = {},
): Promise<readonly string[]> => {
  const chunks = await allOf(toUiMessageStream(showing([started, ...parts], messages), options));
  const types = chunks.map((chunk) => ("delta" in chunk ? `${chunk.type} ${chunk.delta}` : chunk.type));
  expect([types[0], ...types.slice(-3)]).toEqual(["start", "finish-step", "message-metadata", "finish"]);
  return types.slice(1, -3);
};

test("a reply that comes whole after a failed attempt leaves nothing of it", async () => {
  const retry: AskPart = {
    type: "signal",
    signal: { type: "retry.scheduled", turn: 1, attempt: 2, dueAt: 1, because: "overloaded" },
  };
  const messages = await messagesOf(toolCalls([{ name: "echo", arguments: {} }]), reply("Done."));
  const parts = [begins(1), text("Lo"), retry, call, begins(2), text("Done.", 2)];
  expect(await typesOf(parts, messages)).toEqual([
    "start-step",
    "text-start",
    "text-delta Lo",
    "reset-step",
    "tool-input-available",
    "finish-step",
    "start-step",
    "text-start",
    "text-delta Done.",
    "text-end",
  ]);
});

test("a refused output is taken back, and the next step takes its place", async () => {
  const refused: AskPart = {
    type: "signal",
    signal: { type: "output.refused", turn: 1, step: 1, attempt: 1, issues: 1 },
  };
  const parts = [begins(1), text("Lo"), refused, begins(2), text("Hi.", 2)];
  expect(await typesOf(parts, await messagesOf(reply("Hi.")))).toEqual([
    "start-step",
    "text-start",
    "text-delta Lo",
    "reset-step",
    "text-start",
    "text-delta Hi.",
    "text-end",
  ]);
});

test("what is shown anew from an earlier step on replaces the step under way, and no other", async () => {
  const anew: AskPart = { type: "replay.started", turn: 1, step: 1, synthesised: true };
  const parts = [begins(1), text("Look:"), call, begins(2), text("Do", 2), anew];
  const again = [started, begins(1), text("Look:"), call, begins(2), text("Done.", 2)];
  const messages = await messagesOf(toolCalls([{ name: "echo", arguments: {} }], { content: "Look:" }), reply("Done."));
  expect(await typesOf([...parts, ...again], messages)).toEqual([
    "start-step",
    "text-start",
    "text-delta Look:",
    "text-end",
    "tool-input-available",
    "finish-step",
    "start-step",
    "text-start",
    "text-delta Do",
    "reset-step",
    "text-start",
    "text-delta Done.",
    "text-end",
  ]);
});

test("who has a step and sees no more than the end is sent what follows it", async () => {
  const messages = await messagesOf(toolCalls([{ name: "echo", arguments: {} }], { content: "Look:" }), reply("Done."));
  expect(await typesOf([], messages, { behind: 1 })).toEqual([
    "tool-output-available",
    "start-step",
    "text-start",
    "text-delta Done.",
    "text-end",
  ]);
});

test("who watches sees that somebody approved, or did not", async () => {
  const pays = toolCalls([
    { name: "pay", arguments: {} },
    { name: "pay", arguments: {} },
  ]);
  const { host } = stage([pays, reply("Done.")]);
  const thread = host.thread("t");
  await allOf(toUiMessageStream(thread.ask("Pay.", { askId: "a" })));
  const [one, other] = await thread.approvals();
  await thread.approve(one?.id ?? "");
  await thread.deny(other?.id ?? "", { reason: "twice" });
  const chunks = await allOf(toUiMessageStream(thread.rejoin("a"), { thread, behind: 1 }));
  expect(chunks.filter(({ type }) => type.startsWith("tool-"))).toEqual(
    expect.arrayContaining([
      { type: "tool-approval-response", approvalId: "1.1.0", approved: true },
      { type: "tool-output-available", toolCallId: "1.1.0", output: "paid" },
      { type: "tool-approval-response", approvalId: "1.1.1", approved: false, reason: "twice" },
      { type: "tool-output-denied", toolCallId: "1.1.1" },
    ]),
  );
  await host.close();
});

test("parts that nobody keeps any more are an error, and no answer with holes", async () => {
  const dropped: AskPart = { type: "parts.dropped", count: 9 };
  const chunks = await allOf(toUiMessageStream(showing([dropped, text("end")], [])));
  expect(chunks).toEqual([{ type: "error", errorText: expect.stringContaining("Load it again") }]);
});

test.each<readonly [string, () => ShownAsk]>([
  [
    "while parts are read",
    () =>
      showing(
        (async function* (): AsyncGenerator<AskPart> {
          yield started;
          throw new Error("no disk at /var/secret");
        })(),
        [],
      ),
  ],
  ["at the end of the turn", () => showing([started], [], new Error("no disk at /var/secret"))],
])("the stream hides an error of the server %s from the page, and throws it to the operator", async (_, asked) => {
  const seen: UiMessageChunk[] = [];
  const reading = (async () => {
    for await (const chunk of toUiMessageStream(asked())) seen.push(chunk);
  })();
  await expect(reading).rejects.toThrow("no disk at /var/secret");
  expect(seen.at(-1)).toEqual({ type: "error", errorText: expect.stringContaining("not available") });
});
