import { type AskPart, createHost, type LlmHandler, memoryStore } from "@colloquy/host";
import { conversationMachine, toArray, toolCallsOf } from "@colloquy/machine";
import { loadAll } from "@colloquy/machine/storage";
import { replyFromChatMessage } from "@colloquy/interchange";
import { virtualClock } from "@colloquy/runtime-test";
import * as Either from "fp-ts/lib/Either.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeChatStream } from "../../../src/llm/reply/chat-answer.ts";
import { bytesOf, chunkOf } from "./wire.ts";
import { runs } from "../../../../../test/runs.ts";

/** An entry of a delta's `tool_calls` as servers send it: an index from 0, 1 or none; a repeated, empty or no id. */
const piece = fc.record(
  {
    index: fc.constantFrom(0, 1, 2, 5),
    id: fc.constantFrom("a", "b", "", null),
    function: fc.record(
      {
        name: fc.constantFrom("f", "g", ""),
        arguments: fc.constantFrom("", "{", "}", "{}", '{"x":', "1}"),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

const streamed = fc.array(
  fc.array(fc.oneof({ weight: 9, arbitrary: piece }, fc.constantFrom(null, 1, "x")), { maxLength: 3 }),
  { maxLength: 8 },
);

test("a tool call has one id and one position from its first piece to the store, however a server numbers its pieces", async () => {
  await fc.assert(
    fc.asyncProperty(streamed, async (lists) => {
      const { parts, stored } = await shownAndStored(lists);
      const whole = parts.filter((part) => part.type === "toolCall");
      expect(whole.map(({ callId, position }) => [callId, position])).toEqual(
        stored.map(({ callId }, position) => [callId, position]),
      );
      const results = parts
        .filter((part) => part.type === "toolResult")
        .toSorted((one, other) => one.position - other.position);
      expect(results.map(({ callId, position }) => [callId, position])).toEqual(
        whole.map(({ callId, position }) => [callId, position]),
      );
      const pieces = parts.filter((part) => part.type === "toolCall.delta");
      expect([...new Set(pieces.map(({ callId }) => callId))].sort()).toEqual(stored.map(({ callId }) => callId));
      for (const [position, call] of stored.entries()) {
        const own = pieces.filter(({ callId }) => callId === call.callId);
        expect(own.every((each) => each.position === position)).toBe(true);
        expect(own.at(-1)).toMatchObject({ name: call.name, providerCallId: call.providerCallId });
        // A whole object was already shown when another replaced it.
        const shown = own.map((each) => each.arguments).join("");
        const isReplaced = isWhole(shown) && (isWhole(call.arguments) || call.arguments.startsWith(shown));
        expect(shown === call.arguments || isReplaced).toBe(true);
      }
    }),
    { seed: 20_260_501, numRuns: runs(300) },
  );
});

const isWhole = (text: string): boolean => {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
};

/** Returns the shown parts of an ask's first step whose model streams these lists, and the stored calls. */
const shownAndStored = async (lists: readonly (readonly unknown[])[]) => {
  const clock = virtualClock();
  const bytes = bytesOf(
    [...lists.map((calls) => chunkOf({ tool_calls: calls })), chunkOf({}, { finish_reason: "stop" })].join(""),
  );
  const llm: LlmHandler = async ({ step }, { onDelta }) => {
    if (step > 1) return { type: "completed", reply: { content: "done" }, finishReason: "stop" };
    const reply = replyFromChatMessage((await decodeChatStream(bytes, onDelta)).choices[0]?.message);
    if (Either.isLeft(reply)) throw new Error(reply.left);
    return { type: "completed", reply: reply.right, finishReason: "tool_calls" };
  };
  const ids = { draw: (kind: string) => kind };
  const host = createHost({ machine: conversationMachine(), store: memoryStore({ clock }), llm, clock, ids });
  const parts: AskPart[] = [];
  for await (const part of host.ask("hi")) parts.push(part);
  const state = await host.thread().state();
  if (state === null) throw new Error("the thread should be there");
  const { turns } = loadAll(state).context.conversation;
  const messages = toArray(turns).flatMap((turn) => toArray(turn.messages));
  return { parts, stored: messages.flatMap(toolCallsOf) };
};
