import { describe, expect, test } from "vitest";
import { approvalsOf, conversationMachine } from "../../src/index.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { calling } from "../talk.ts";

/** A thread that waits for an approval of its first call. */
const asking = (threadId: string): CheckedTalk => {
  const talk = new CheckedTalk(conversationMachine({ tools: [{ name: "pay", approval: "always" }] }), { threadId });
  talk.ask("pay it");
  talk.reply(calling("pay"));
  talk.tell({ type: "tool.withheld", effectId: `${threadId}/1.1.0#1`, because: "declared", arguments: { to: "Ada" } });
  return talk;
};

describe("an approval", () => {
  test.each([
    ["a", "a/b"],
    ["a/b", "a"],
    ["a", "a/a"],
    ["a", "b"],
  ])("that thread %s asks for is not given by an answer to that of thread %s", (threadId, other) => {
    const talk = asking(threadId);
    const [request] = approvalsOf(talk.state);
    const [foreign] = approvalsOf(asking(other).state);
    for (const approved of [true, false]) {
      // The same call, so that the digest is the same too.
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
});
