import { expect, test } from "vitest";
import { messagesOf } from "../../src/index.ts";
import { CheckedTalk } from "../checked-talk.ts";

// Servers refuse half of a surrogate pair, so no message holds one, wherever it came from.

const torn = "a \ud83d";
const parts = [
  { type: "text" as const, text: torn, provider: { mark: torn } },
  { type: "data" as const, field: torn, value: { [torn]: [torn] } },
  { type: "image" as const, url: torn, detail: torn },
  { type: "opaque" as const, value: { audio: torn } },
];

const tornIn = (talk: CheckedTalk): readonly string[] => {
  const { conversation, open } = talk.state.context;
  const all = [
    ...messagesOf(talk.state),
    conversation.system,
    conversation.appended,
    open?.waiting,
    ...(open === null ? [] : talk.call().messages),
  ];
  // JSON writes each half that stands alone as an escape.
  return [...JSON.stringify(all).matchAll(/\\ud[89a-f][0-9a-f]{2}/giu)].map(([half]) => half);
};

test("a message is well-formed however it is made", () => {
  const seed = [
    { role: "user" as const, content: parts, name: torn, provider: { mark: torn } },
    { role: "assistant" as const, toolCalls: [{ id: torn, name: torn, arguments: torn, provider: { mark: torn } }] },
    { role: "tool" as const, toolCallId: torn, content: torn },
  ];
  const talk = new CheckedTalk({ tools: [{ name: "read" }] }, { seed, system: torn });
  talk.tell({
    type: "round.appended",
    reply: { toolCalls: [{ id: torn, name: torn, arguments: torn }] },
    results: [{ outcome: "completed", content: torn }],
  });
  talk.tell({
    type: "turn.added",
    messages: [
      { role: "user", content: torn },
      { role: "assistant", content: torn },
    ],
  });
  talk.tell({ type: "message.appended", message: { role: "user", content: parts } });
  talk.tell({ type: "system.changed", system: torn });
  expect(tornIn(talk)).toEqual([]);
  talk.ask(torn);
  talk.reply({
    content: [...parts, { type: "reasoning", text: torn }],
    toolCalls: [{ id: torn, name: "read", arguments: torn }],
  });
  talk.result(0, torn);
  expect(tornIn(talk)).toEqual([]);
  talk.tell({ type: "llm.progressed", effectId: talk.call().id, partial: { content: torn } });
  talk.tell({ type: "llm.progressed", effectId: talk.call().id, partial: { content: "\ude00" } });
  talk.tell({ type: "cancel.requested" });
  expect(tornIn(talk)).toEqual([]);
  expect(messagesOf(talk.state).at(-1)?.parts).toEqual([{ type: "text", text: "a \ud83d\ude00" }]);
  talk.ask("Again.");
  talk.tell({ type: "cancel.requested", partial: { content: torn } });
  expect(tornIn(talk)).toEqual([]);
});

test.each(["Ada Lovelace", "a.b", "", "a".repeat(65), "Zoë", "\ud800"])(
  "an ask under the name %j is refused with the pattern",
  (name) => {
    const talk = new CheckedTalk();
    expect(talk.refused({ type: "ask.received", askId: "a", input: "Hello", name })).toMatchObject({
      kind: "invalid",
      reason: expect.stringContaining("^[a-zA-Z0-9_-]{1,64}$") as unknown,
    });
    expect(
      talk.refused({ type: "ask.received", askId: "a", input: [{ role: "user", content: "Hello", name }] }).kind,
    ).toBe("invalid");
  },
);

test.each(["Ada_Lovelace-2", "a".repeat(64)])("an ask under the name %j is taken", (name) => {
  const talk = new CheckedTalk();
  talk.tell({ type: "ask.received", askId: "a", input: "Hello", name });
  expect(talk.call().messages[0]?.name).toBe(name);
});
