import type { Content, Json, Message, ToolOutcome } from "@colloquy/machine";
import { notApproved } from "@colloquy/machine/hosting";
import { expect, test } from "vitest";
import { answersIn } from "../../src/ui/chat-request.ts";
import { contentOfOutput, type Ended, endedBy, inputOf, stepsOf, turnIn } from "../../src/ui/steps.ts";

test.each<readonly [string, number | null]>([
  ["turn-3", 3],
  ["turn-12", 12],
  ["turn-", null],
  ["turn-0", null],
  ["turn-03", null],
  ["my turn-3", null],
  ["turn-3b", null],
  ["m1", null],
])("the id %s of a message names the turn %j", (id, turn) => {
  expect(turnIn(id)).toBe(turn);
});

test.each<readonly [string, Json]>([
  ['{"a":1}', { a: 1 }],
  ["7", 7],
  ['{"a":', '{"a":'],
  ["", ""],
])("the arguments %j of a call are shown as %j", (written, shown) => {
  expect(inputOf(written)).toEqual(shown);
});

const image = { type: "image", url: "https://example.org/cat.png" } as const;
const text = (words: string, more: object = {}) => ({ type: "text", text: words, ...more }) as const;

test.each<readonly [ToolOutcome, Content | null, Ended]>([
  ["completed", null, { state: "output-available", output: null }],
  ["completed", "four", { state: "output-available", output: "four" }],
  ["completed", "4", { state: "output-available", output: "4" }],
  ["completed", ' {"a":1}', { state: "output-available", output: { a: 1 } }],
  ["completed", "[1]", { state: "output-available", output: [1] }],
  ["completed", "{or not", { state: "output-available", output: "{or not" }],
  ["completed", [text("4", { provider: { output: "json" } })], { state: "output-available", output: 4 }],
  ["completed", [text("4", { provider: { output: "text" } })], { state: "output-available", output: "4" }],
  ["completed", [image], { state: "output-available", output: [image] }],
  ["completed", [text("[1]"), text("b")], { state: "output-available", output: [text("[1]"), text("b")] }],
  ["failed", "broken", { state: "output-error", errorText: "broken" }],
  ["failed", notApproved, { state: "output-error", errorText: notApproved }],
  ["refused", "unknown", { state: "output-error", errorText: "unknown" }],
  ["refused", notApproved, { state: "output-denied", reason: undefined }],
  ["refused", `${notApproved}: too\ndear`, { state: "output-denied", reason: "too\ndear" }],
  ["refused", `${notApproved}.`, { state: "output-denied", reason: undefined }],
])("a call that %s with %j ends for a page as %j", (outcome, content, expected) => {
  expect(endedBy(outcome, content)).toEqual(expected);
});

test.each<readonly [unknown, Content | null]>([
  [undefined, null],
  [null, null],
  ["four", "four"],
  ["", ""],
  ["[1]", [text('"[1]"', { provider: { output: "json" } })]],
  [4, [text("4", { provider: { output: "json" } })]],
  [{ a: 1 }, [text('{"a":1}', { provider: { output: "json" } })]],
])("the output %j of a page's tool is kept as %j, and shown again as it was", (output, kept) => {
  const content = contentOfOutput(output);
  expect(content).toEqual(kept);
  expect(endedBy("completed", content)).toEqual({
    state: "output-available",
    output: output ?? null,
  });
});

test("the steps of a turn are the replies of its model that say or call something", () => {
  const reply = (parts: readonly object[], more: object = {}) => ({ role: "assistant", parts, ...more });
  const call = { type: "toolCall", callId: "1.1.0", name: "look", arguments: "{}" };
  const messages = [
    { role: "user", parts: [text("Where?")] },
    reply([]),
    reply([text("Let me see.")]),
    reply([call]),
    reply([text("There.")], { synthesised: true }),
  ];
  // Cast: only these members of a message are read.
  const steps = stepsOf(messages as unknown as readonly Message[]);
  expect(steps).toEqual([
    { said: [{ kind: "text", text: "Let me see." }], calls: [] },
    { said: [], calls: [call] },
  ]);
});

test("the answers of a page are those of its tools and of its user, each with the step of its call", () => {
  const part = (toolCallId: string, state: string, more: object = {}) => {
    return { type: "tool-look", toolCallId, state, ...more };
  };
  const parts = [
    text("Here."),
    part("1.2.0", "output-available", { output: "four" }),
    part("1.2.1", "output-error", { errorText: "broken" }),
    part("1.2.2", "output-error"),
    part("1.3.0", "approval-responded", { approval: { approved: true } }),
    part("1.3.1", "approval-responded", { approval: { approved: false, reason: "no", signature: "signed" } }),
    part("1.3.2", "approval-requested", { approval: { id: "1.3.2" } }),
    part("other", "output-available", { output: "four" }),
    part("x1.2.0", "output-available", { output: "four" }),
  ];
  const none = { output: undefined, approval: undefined };
  expect(answersIn({ id: "turn-1", role: "assistant", parts })).toEqual([
    { ...none, callId: "1.2.0", step: 2, output: "four" },
    { ...none, callId: "1.2.1", step: 2, output: { failed: "broken" } },
    { ...none, callId: "1.2.2", step: 2, output: { failed: "" } },
    { ...none, callId: "1.3.0", step: 3, approval: { approved: true } },
    { ...none, callId: "1.3.1", step: 3, approval: { approved: false, reason: "no", digest: "signed" } },
    { ...none, callId: "1.3.2", step: 3 },
  ]);
});
