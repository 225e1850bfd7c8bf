// The parts that asks are shown, as the reports make them.
import type { CallLlm, LlmCompleted, State } from "@colloquy/machine";
import { expect, test } from "vitest";
import { Asks } from "../../src/ask/asks.ts";
import { Observation } from "../../src/context/hooks.ts";
import { recordingAsks, reportEffect, showReply, showText } from "../../src/loop/report.ts";
import { ShownOutput } from "../../src/output/partial-json.ts";
import { TurnLog } from "../../src/turn-log/log.ts";
import type { AskPart } from "../../src/turn-log/parts.ts";

/** Makes a port that notes the parts that it is given, with a log of turn 1, or none. */
const port = (log: TurnLog | null = null, state: State | null = null) => {
  const parts: AskPart[] = [];
  const steps: number[] = [];
  const asks = new Asks();
  asks.recorder = { begin: () => {}, record: (_, part) => void parts.push(part), log: () => log, newest: null };
  const observation = new Observation({ afterStep: ({ step }) => void steps.push(step) }, [], undefined);
  return { parts, steps, port: { threadId: "t", host: { observation }, asks, state } };
};

const shown = { turn: 1, step: 2, attempt: 3, output: null } as const;

const completed = (reply: LlmCompleted["reply"]): LlmCompleted => ({
  type: "llm.completed",
  at: 1,
  effectId: "t/1.2",
  promptDigest: "",
  reply,
  finishReason: "stop",
});

/** Makes a call of step 2, or another. */
const call = (attempt: number, step = 2): CallLlm =>
  // A report reads no other members.
  ({ type: "callLlm", purpose: "answer", id: "c", threadId: "t", turn: 1, step, attempt }) as unknown as CallLlm;

test("a reply that was not streamed is shown as its texts, its reasoning and its refusals, and no part of another kind", () => {
  const { parts, port: of } = port();
  const content = [
    { type: "reasoning", text: "Hm." },
    { type: "data", field: "n", value: 1 },
    { type: "text", text: "Yes." },
    { type: "image", url: "http://a/b.png" },
    { type: "refusal", text: "No." },
  ] as const;
  showReply(of, shown, completed({ content, toolCalls: [{ id: "x", name: "add", arguments: "{}" }] }), false);
  const place = { turn: 1, step: 2 };
  expect(parts).toEqual([
    { type: "reasoning.delta", ...place, attempt: 3, text: "Hm." },
    { type: "text.delta", ...place, attempt: 3, text: "Yes." },
    { type: "refusal.delta", ...place, attempt: 3, text: "No." },
    { type: "toolCall", ...place, position: 0, callId: "1.2.0", name: "add", arguments: "{}" },
  ]);
});

test("a reply that was streamed, or has no text, is shown only with its calls", () => {
  const { parts, port: of } = port();
  const toolCalls = [{ id: "x", name: "add", arguments: "{}" }];
  showReply(of, shown, completed({ content: "Yes.", toolCalls }), true);
  showReply(of, shown, completed({ toolCalls }), false);
  expect(parts.map(({ type }) => type)).toEqual(["toolCall", "toolCall"]);
});

test("only the text of an answer, and neither reasoning nor refusal, is read as the output that is wanted", () => {
  const { parts, port: of } = port();
  const output = new ShownOutput();
  showText(of, { ...shown, output }, "reasoning", '{"a":0,');
  showText(of, { ...shown, output }, "refusal", '{"a":0,');
  showText(of, { ...shown, output }, "text", '{"a":1,');
  expect(parts.map(({ type }) => type)).toEqual(["reasoning.delta", "refusal.delta", "text.delta", "output.partial"]);
  expect(parts.at(-1)).toEqual({ type: "output.partial", turn: 1, step: 2, attempt: 1, value: { a: 1 } });
});

test("an output is shown as of the attempt after those that were refused", () => {
  // A report reads no other members.
  const state = { context: { open: { refusedOutputs: [{}, {}] } } } as unknown as State;
  const { parts, port: of } = port(null, state);
  showText(of, { ...shown, output: new ShownOutput() }, "text", '{"a":1,');
  expect(parts.at(-1)).toMatchObject({ type: "output.partial", attempt: 3 });
});

test("the first attempt of a step starts it, after the end of the step before", () => {
  const log = new TurnLog(1);
  const { parts, steps, port: of } = port(log);
  reportEffect(of, call(1, 1));
  expect([parts, steps]).toEqual([[{ type: "step.started", turn: 1, step: 1 }], []]);
  reportEffect(of, call(1));
  expect([parts.slice(1), steps]).toEqual([
    [
      { type: "step.ended", turn: 1, step: 1 },
      { type: "step.started", turn: 1, step: 2 },
    ],
    [1],
  ]);
});

test("the first attempt of a step starts it again if it was shown before, but does not end the step before twice", () => {
  const log = new TurnLog(1);
  for (const part of [
    { type: "step.ended", turn: 1, step: 1 },
    { type: "step.started", turn: 1, step: 2 },
  ] as const)
    log.append(1, part);
  const { parts, steps, port: of } = port(log);
  reportEffect(of, call(1));
  expect([parts, steps]).toEqual([[{ type: "step.started", turn: 1, step: 2 }], [1]]);
});

test("a later attempt starts its step only if a log is kept and the start was not shown", () => {
  const without = port();
  reportEffect(without.port, call(2));
  expect(without.parts).toEqual([]);
  const fresh = port(new TurnLog(1));
  reportEffect(fresh.port, call(2));
  expect(fresh.parts.map(({ type }) => type)).toEqual(["step.ended", "step.started"]);
  const log = new TurnLog(1);
  log.append(1, { type: "step.started", turn: 1, step: 2 });
  const begun = port(log);
  reportEffect(begun.port, call(2));
  expect([begun.parts, begun.steps]).toEqual([[], []]);
});

test("a summary starts no step", () => {
  const { parts, port: of } = port(new TurnLog(1));
  reportEffect(of, { ...call(1), purpose: "summary" });
  expect(parts).toEqual([]);
});

test("the asks of callers in other processes pass on each part, keep no log and name the newest turn that is known", () => {
  const passed: unknown[] = [];
  let newest: number | null = null;
  const { recorder } = recordingAsks(
    (turn, part) => passed.push([turn, part.type]),
    () => newest,
  );
  recorder?.begin(1, ["a"]);
  recorder?.record(1, { type: "step.started", turn: 1, step: 1 });
  expect([passed, recorder?.log(1), recorder?.newest]).toEqual([[[1, "step.started"]], null, null]);
  newest = 4;
  expect(recorder?.newest).toBe(4);
});
