import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { approvalsOf, conversationMachine, start, textOf, transition } from "../../src/index.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { calling, Talk } from "../talk.ts";
import { runs } from "../runs.ts";

test("a round that is appended may have more calls than a function takes arguments", () => {
  const many = 130_000;
  const talk = new Talk(conversationMachine());
  const toolCalls = Array.from({ length: many }, () => ({ id: null, name: "f", arguments: "{}" }));
  const results = Array.from({ length: many }, () => ({ outcome: "completed", content: "" }) as const);
  talk.tell({ type: "round.appended", reply: { toolCalls }, results });
  expect(talk.state.context.conversation.appended).toHaveLength(many + 1);
});

const calls = (...names: readonly string[]) => ({ toolCalls: calling(...names).toolCalls ?? [] });

describe("tool calls that would vanish", () => {
  test("in the chat format are refused, in turns, seeds and messages", () => {
    const { machine, state } = new CheckedTalk();
    const foreign = { role: "assistant", content: "", tool_calls: [{ id: "x" }] } as const;
    const refused = transition(machine, state, { type: "turn.added", at: 1, messages: [foreign] });
    expect(refused).toMatchObject({ handled: false, refusal: { kind: "invalid" } });
    expect(!refused.handled && refused.refusal.reason).toMatch(/"tool_calls".*fromChatMessage/);
    expect(() => start(machine, { threadId: "t", at: 0, seed: [foreign] })).toThrow(/"tool_calls".*fromChatMessage/);
    expect(transition(machine, state, { type: "message.appended", at: 1, message: foreign }).handled).toBe(false);
  });

  test("are none if the list in the chat format is empty or missing, so the message is accepted", () => {
    const talk = new CheckedTalk();
    const message = { role: "assistant", content: "Hello", tool_calls: [], function_call: null } as const;
    talk.tell({ type: "message.appended", message });
    expect(talk.state.context.conversation.appended.map(textOf)).toEqual(["Hello"]);
  });

  test("of a message of no assistant are refused", () => {
    const { machine, state } = new CheckedTalk();
    const messages = [{ role: "user", content: "", ...calls("search") }] as const;
    const refused = transition(machine, state, { type: "turn.added", at: 1, messages });
    expect(!refused.handled && refused.refusal.reason).toMatch(/role "user".*only an assistant calls tools/);
  });
});

/** Returns a thread whose first call waits for approval. */
const asking = (threadId: string): CheckedTalk => {
  const talk = new CheckedTalk(conversationMachine({ tools: [{ name: "pay", approval: "always" }] }), { threadId });
  talk.ask("pay it");
  talk.reply(calling("pay"));
  talk.tell({ type: "tool.withheld", effectId: `${threadId}/1.1.0#1`, because: "declared", arguments: { to: "Ada" } });
  return talk;
};

test.each([
  ["a", "a/b"],
  ["a/b", "a"],
  ["a", "a/a"],
  ["a", "b"],
])("an approval that thread %s asks for is not given by an answer to that of thread %s", (threadId, other) => {
  const talk = asking(threadId);
  const [request] = approvalsOf(talk.state);
  const [foreign] = approvalsOf(asking(other).state);
  for (const approved of [true, false]) {
    // The same call, so the digest is the same, too.
    const answer = { type: "approval.answered", effectId: foreign?.id ?? "", approved } as const;
    for (const told of [answer, { ...answer, digest: foreign?.digest ?? "" }])
      expect(talk.refused(told)).toMatchObject({
        kind: "stale",
        reason: expect.stringContaining(request?.id ?? "?"),
      });
  }
  talk.tell({ type: "approval.answered", effectId: request?.id ?? "", approved: true });
  expect(talk.out()).toMatchObject([{ type: "callTool", id: `${threadId}/1.1.0#2` }]);
});

// `CheckedTalk` checks the figures of `thread.updated` at every event by a full count.

test("the figures equal a full count, whatever is branched, shortened and added", () => {
  type Edit = (talk: CheckedTalk) => void;
  const closed = (talk: CheckedTalk, pick: number): number => pick % (talk.state.context.conversation.turns.length + 1);
  const edit: fc.Arbitrary<Edit> = fc.oneof(
    fc.tuple(fc.string(), fc.string()).map(
      ([ask, answer]): Edit =>
        (talk) =>
          talk.say(ask || "x", answer),
    ),
    fc.nat().map(
      (pick): Edit =>
        (talk) =>
          talk.tell({ type: "head.moved", to: closed(talk, pick) }),
    ),
    fc.tuple(fc.nat(), fc.nat({ max: 8 })).map(([pick, characters]): Edit => (talk) => {
      const turn = closed(talk, pick);
      const answered = talk.state.context.conversation.turns.length > 0 && turn > 0;
      if (answered && isAnswered(talk, turn)) talk.tell({ type: "answer.truncated", turn, characters });
    }),
    fc.string().map((content): Edit => (talk) => {
      talk.tell({
        type: "turn.added",
        messages: [
          { role: "user", content },
          { role: "assistant", content },
        ],
      });
    }),
    fc.string().map((content): Edit => (talk) => {
      talk.tell({ type: "message.appended", message: { role: "user", content } });
    }),
    fc.constant<Edit>((talk) => talk.tell({ type: "checkpoint.named", name: "here" })),
  );
  const isAnswered = (talk: CheckedTalk, turn: number): boolean =>
    talk.refusalOf({ type: "answer.truncated", turn, characters: 0 }) === null;
  const property = fc.property(fc.array(edit, { maxLength: 25 }), (edits) => {
    const talk = new CheckedTalk({}, { seed: [{ role: "user", content: "seed" }] });
    for (const change of edits) change(talk);
  });
  fc.assert(property, { numRuns: runs(100) });
});
