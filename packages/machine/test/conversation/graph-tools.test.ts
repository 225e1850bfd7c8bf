import { describe, expect, test } from "vitest";
import { getShortestPaths, toDirectedGraph } from "xstate/graph";
import { conversationMachine, type Event } from "../../src/index.ts";

// XState's own graph tools explore the machine when they are given events and a serializer by value: every context is
// another one, since it counts entries.

const machine = conversationMachine({ tools: [{ name: "search" }] });
const input = { threadId: "t", at: 0 };

const failure = { kind: "bad_request", message: "no", retryable: false } as const;
const answer = { type: "llm.completed", at: 2, effectId: "t/1.1#1", finishReason: null } as const;
const events: readonly Event[] = [
  { type: "ask.received", at: 1, askId: "a", input: "Go." },
  { ...answer, reply: { toolCalls: [{ id: null, name: "search", arguments: "{}" }] } },
  { ...answer, reply: { content: "Done." } },
  { type: "llm.failed", at: 2, effectId: "t/1.1#1", failure },
];

const valueOf = ({ value }: { readonly value: unknown }): string => JSON.stringify(value);

describe("XState's graph tools", () => {
  test("find the five states, given events and a serializer by value", () => {
    const paths = getShortestPaths(machine, { events: [...events], input, serializeState: valueOf });
    const found = paths.map(({ state }) =>
      typeof state.value === "string" ? state.value : Object.keys(state.value)[0],
    );
    expect(new Set(found)).toEqual(new Set(["idle", "awaiting_llm", "awaiting_tool", "completed", "error"]));
  });

  test("draw the machine", () => {
    expect(toDirectedGraph(machine).children.map(({ id }) => id)).toHaveLength(5);
  });

  test("without events find where it begins, and nothing throws: a type alone is no event", () => {
    const paths = getShortestPaths(machine, { input, serializeState: valueOf });
    expect(paths.map(({ state }) => state.value)).toEqual(["idle"]);
  });
});
