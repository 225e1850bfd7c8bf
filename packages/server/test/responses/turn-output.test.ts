import { noUsage, type ToolOutcome } from "@colloquy/machine";
import { expect, test } from "vitest";
import type { Leg } from "../../src/responses/leg.ts";
import { type LegEvent, LegWriter } from "../../src/responses/leg-writer.ts";
import { type TurnPart, TurnOutput } from "../../src/responses/turn-output.ts";

const place = (position: number) => ({ turn: 1, step: 1, position, callId: `1.1.${position}`, name: "look_up" });
const called = (position: number): TurnPart => ({ type: "toolCall", ...place(position), arguments: "{}" });
const requested = (position: number): TurnPart => ({ type: "result.requested", ...place(position), arguments: "{}" });
const answered = (position: number, outcome: ToolOutcome): TurnPart => ({
  type: "toolResult",
  ...place(position),
  outcome,
  content: "Ada",
});
const answer: readonly TurnPart[] = [
  { type: "step.started", turn: 1, step: 2 },
  { type: "text.delta", turn: 1, step: 2, attempt: 1, text: "Ada it is." },
  { type: "turn.ended", turn: 1, status: "completed" },
];
const begun: readonly TurnPart[] = [{ type: "step.started", turn: 1, step: 1 }];

const typesOf = (parts: readonly TurnPart[]) => {
  const legs: Leg[] = [];
  const turn = { threadId: "t", turn: 1, startedAt: 0, callerTools: new Set(["look_up"]), echo: {} };
  const output = new TurnOutput(turn);
  output.watch({ begun: (leg) => legs.push(leg), ended: () => {} });
  for (const part of parts) output.apply(part, { at: 0, usage: noUsage, outcome: null });
  return legs.map(({ facts }) => facts.items.map(({ type, id }) => `${type} ${id}`));
};

test.each(["completed", "failed"] as const)(
  "shows a %s call of the caller's tools whose request no part has: a follower reads it with its answer",
  (outcome) => {
    const calls = [called(0), called(1)];
    const answers = [answered(0, outcome), answered(1, "completed"), ...answer];
    const whole = typesOf([...begun, ...calls, requested(0), requested(1), ...answers]);
    expect(whole.map((items) => items.length)).toEqual([2, 1]);
    expect(typesOf([...begun, ...calls, ...answers])).toEqual(whole);
    expect(typesOf([...begun, ...calls, requested(0), ...answers])).toEqual(whole);
  },
);

test.each(["refused", "interrupted", "unknown"] as const)(
  "leaves out a call of the caller's tools that was %s before it was requested",
  (outcome) => {
    const refused = answered(0, outcome);
    expect(typesOf([...begun, called(0), refused, ...answer]).map((items) => items.length)).toEqual([1]);
  },
);

test.each<readonly [number, readonly TurnPart[]]>([
  [0, []],
  [0, begun],
  [1, [...begun, called(0)]],
  [1, [...begun, called(0), requested(0)]],
  [1, [...begun, called(0), requested(0), answered(0, "completed"), ...answer.slice(0, 1)]],
  [2, [...begun, called(0), requested(0), answered(0, "completed"), ...answer]],
])("knows replies through step %i after %j", (step, parts) => {
  const output = new TurnOutput({ threadId: "t", turn: 1, startedAt: 0, callerTools: new Set(["look_up"]), echo: {} });
  for (const part of parts) output.apply(part, { at: 0, usage: noUsage, outcome: null });
  expect(output.knownThrough).toBe(step);
});

const toCall = { callId: "1.1.0", name: "look_up", arguments: "{}" };

const approval = (position: number, number: number): TurnPart => {
  const { callId, name, ...at } = place(position);
  const request = { id: `t/${callId}!approval-${number}`, callId, position, name, arguments: {} };
  return { type: "approval.requested", turn: at.turn, step: at.step, request };
};

test.each<readonly [string, readonly TurnPart[], readonly number[]]>([
  ["a call that it knows", [approval(0, 1)], [1, 1]],
  ["a call that it does not know", [approval(7, 1)], [1]],
  ["a call twice for the same request", [approval(0, 1), approval(0, 1)], [1, 1]],
  ["a call again for a later request", [approval(0, 1), approval(0, 2)], [1, 1, 1]],
  ["a call that has a result", [answered(0, "completed"), approval(0, 1)], [2]],
])("TurnOutput asks to approve %s as often as it must", (_, parts, counts) => {
  const legs: Leg[] = [];
  const output = new TurnOutput({ threadId: "t", turn: 1, startedAt: 0, callerTools: new Set(), echo: {} });
  output.watch({ begun: (leg) => legs.push(leg), ended: () => {} });
  for (const part of [...begun, called(0), ...parts, ...answer])
    output.apply(part, { at: 0, usage: noUsage, outcome: null });
  expect(legs.map(({ facts }) => facts.items.length)).toEqual(counts);
});

const wrote = (text: string, attempt = 1): TurnPart => ({ type: "text.delta", turn: 1, step: 1, attempt, text });
const signal = (told: object): TurnPart =>
  // Cast: only its type is read.
  ({ type: "signal", signal: told }) as TurnPart;

test.each<readonly [string, readonly TurnPart[], readonly string[]]>([
  ["a retry", [signal({ type: "retry.scheduled" }), wrote("B", 2)], ["B"]],
  ["a later attempt", [wrote("B", 2)], ["B"]],
  ["a refused output", [signal({ type: "output.refused" }), wrote("B")], ["B"]],
  ["a warning", [signal({ type: "context.warning" }), wrote("B")], ["AB"]],
  ["a lost thread", [{ type: "thread.lost", turn: 1 }, wrote("B")], ["B"]],
  ["a replay of its step", [{ type: "replay.started", turn: 1, step: 1, synthesised: false }, wrote("B")], ["B"]],
  [
    "a replay of a later step",
    [{ type: "replay.started", turn: 1, step: 2, synthesised: false }, wrote("B")],
    ["A", "B"],
  ],
  ["an empty text", [wrote(""), wrote("B")], ["AB"]],
  ["the start of the next step", [{ type: "step.started", turn: 1, step: 2 }, wrote("B")], ["A", "B"]],
  ["a repeated start of the same step", [{ type: "step.started", turn: 1, step: 1 }, wrote("B")], ["AB"]],
])("TurnOutput keeps, drops or ends the text so far after %s", (_, parts, texts) => {
  const turn = { threadId: "t", turn: 1, startedAt: 0, callerTools: new Set<string>(), echo: {} };
  const output = new TurnOutput(turn);
  for (const part of [...begun, wrote("A"), ...parts, { type: "turn.ended", turn: 1, status: "completed" } as const])
    output.apply(part, { at: 0, usage: noUsage, outcome: null });
  // Cast: all items of this turn are messages.
  const messages = output.items as readonly { readonly content?: readonly { readonly text: string }[] }[];
  const said = messages.map(({ content = [] }) => content.map(({ text }) => text).join(""));
  expect(said).toEqual(texts);
});

test("LegWriter writes a call again from its start when a new attempt writes it", () => {
  const events: LegEvent[] = [];
  const writer = new LegWriter((event) => void events.push(event));
  const at = { threadId: "t", turn: 1, step: 1, index: 0 };
  const call = { callId: "1.1.0", name: "look_up" };
  writer.writeCall(at, { ...call, arguments: '{"i' });
  writer.voidFrom(1);
  writer.writeCall(at, { ...call, arguments: '{"id"' });
  writer.closeCall(at, { ...call, arguments: '{"id":1}' });
  expect(
    events.map((event) => ("delta" in event ? `${event.type} ${JSON.stringify(event["delta"])}` : event.type)),
  ).toEqual([
    "response.output_item.added",
    String.raw`response.function_call_arguments.delta "{\"i"`,
    "response.output_item.added",
    String.raw`response.function_call_arguments.delta "{\"id\""`,
    'response.function_call_arguments.delta ":1}"',
    "response.function_call_arguments.done",
    "response.output_item.done",
  ]);
  expect(writer.items).toMatchObject([{ type: "function_call", arguments: '{"id":1}', status: "completed" }]);
});

test.each<
  readonly [string, (writer: LegWriter, at: { threadId: string; turn: number; step: number; index: number }) => void]
>([
  ["starts to write a call", (writer, at) => writer.writeCall(at, { ...toCall, arguments: "{" })],
  ["writes a whole call", (writer, at) => writer.closeCall(at, toCall)],
  ["called a tool of the host", (writer, at) => writer.addResult(at, toCall, { text: "Ada", failed: false })],
  ["waits for an approval", (writer, at) => writer.addApproval(at, { name: "pay", arguments: "{}", number: 1 })],
  ["reasons", (writer, at) => writer.write("reasoning", "Hm.", () => at)],
])("LegWriter ends a text before the model %s", (_, more) => {
  const events: LegEvent[] = [];
  const writer = new LegWriter((event) => void events.push(event));
  const at = { threadId: "t", turn: 1, step: 1, index: 0 };
  writer.write("text", "Let me see.", () => at);
  const before = events.length;
  more(writer, { ...at, index: 1 });
  expect(events.slice(before, before + 4)).toMatchObject([
    { type: "response.output_text.done", output_index: 0, text: "Let me see." },
    { type: "response.content_part.done", output_index: 0 },
    { type: "response.output_item.done", output_index: 0, item: { status: "completed" } },
    { type: "response.output_item.added", output_index: 1 },
  ]);
  expect(writer.items[0]).toMatchObject({ type: "message", status: "completed" });
});

test("LegWriter ends a call whose arguments were all written without an empty piece of them", () => {
  const events: LegEvent[] = [];
  const writer = new LegWriter((event) => void events.push(event));
  const at = { threadId: "t", turn: 1, step: 1, index: 0 };
  const call = { callId: "1.1.0", name: "look_up", arguments: "{}" };
  writer.writeCall(at, call);
  writer.closeCall(at, call);
  expect(events.flatMap((event) => ("delta" in event ? [event["delta"]] : []))).toEqual(["{}"]);
});

test("TurnOutput streams the arguments of a caller's tool, and holds back those of other tools", async () => {
  const turn = { threadId: "t", turn: 1, startedAt: 0, callerTools: new Set(["look_up"]), echo: {} };
  const deltas = async (name: string): Promise<readonly string[]> => {
    const output = new TurnOutput(turn);
    const legs: Leg[] = [];
    output.watch({ begun: (leg) => void legs.push(leg), ended: () => {} });
    const writes = (text: string): TurnPart => ({
      type: "toolCall.delta",
      ...place(0),
      name,
      providerCallId: null,
      attempt: 1,
      arguments: text,
    });
    const end: TurnPart = { type: "turn.ended", turn: 1, status: "completed" };
    for (const part of [...begun, writes('{"id'), writes('":1}'), end])
      output.apply(part, { at: 0, usage: noUsage, outcome: null });
    const texts: string[] = [];
    for await (const text of legs[0]?.blocks(0) ?? []) texts.push(text);
    return texts.join("\n").match(/"delta":"(?:[^"\\]|\\.)*"/gu) ?? [];
  };
  expect(await deltas("look_up")).toEqual(['"delta":"{\\"id"', '"delta":"\\":1}"']);
  expect(await deltas("weather")).toEqual([]);
});

test.each([
  ["text", { content_index: 0 }],
  ["refusal", { content_index: 0 }],
  ["reasoning", { summary_index: 0 }],
] as const)("LegWriter names the first part of each item in every event of a %s", (kind, where) => {
  const events: LegEvent[] = [];
  const writer = new LegWriter((event) => void events.push(event));
  writer.write(kind, "Hm.", () => ({ threadId: "t", turn: 1, step: 1, index: 0 }));
  writer.closePiece("completed");
  const inParts = events.filter(({ type }) => !type.startsWith("response.output_item."));
  expect(inParts).toMatchObject([1, 2, 3, 4].map(() => ({ output_index: 0, ...where })));
});

test("LegWriter ends a call with its arguments as they are, if those that were written were others", () => {
  const events: LegEvent[] = [];
  const writer = new LegWriter((event) => void events.push(event));
  const at = { threadId: "t", turn: 1, step: 1, index: 0 };
  writer.writeCall(at, { callId: "1.1.0", name: "look_up", arguments: '{"a"' });
  writer.closeCall(at, { callId: "1.1.0", name: "look_up", arguments: '{"b":1}' });
  expect(events.flatMap((event) => ("delta" in event ? [event["delta"]] : []))).toEqual(['{"a"']);
  expect(events.at(-2)).toMatchObject({ type: "response.function_call_arguments.done", arguments: '{"b":1}' });
  expect(writer.items).toMatchObject([{ arguments: '{"b":1}', status: "completed" }]);
});
