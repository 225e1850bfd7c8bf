import {
  type CallLlm,
  canonicalText,
  type CheckOutput,
  type Effect,
  type Entry,
  type OutputAccepted,
  type OutputRefused,
  type StartTimer,
} from "@colloquy/machine";
import { type Checked, checkText } from "../output/check.ts";
import { type KeyFilter, keyFilter } from "../secrets/key-filter.ts";
import type { StandardSchema } from "../tools/schema.ts";
import { LlmRun, callModel, type GivenOutcome, llmAnswer } from "./llm-run.ts";
import type { LoopPort } from "./loop-port.ts";
import { ToolRun } from "./tool-run.ts";

/** Starts an effect, or stops the one that it cancels. Its result is posted to the loop as an event. */
export const perform = (loop: LoopPort, effect: Effect): void => {
  switch (effect.type) {
    case "callLlm":
      if (effect.purpose === "summary") void summarise(loop, effect);
      else new LlmRun(loop, effect).begin();
      return;
    case "checkOutput":
      checkOutput(loop, effect);
      return;
    case "callTool":
      if (effect.by === undefined) new ToolRun(loop, effect).begin();
      return;
    case "startTimer":
      startTimer(loop, effect);
      return;
    case "cancelLlm":
    case "cancelCheck":
    case "cancelTool":
    case "cancelTimer":
      stop(loop, effect.effectId);
      return;
    case "requestApproval":
    case "cancelApproval":
    case "publish":
  }
};

/** Stops the work that an event answers: an answer may come from outside even to work of this host. */
export const stopAnswered = (loop: LoopPort, event: Entry["event"]): void => {
  if (!isAnswer(event)) return;
  const { responding } = loop;
  const isOther = responding?.effectId === event.effectId && loop.running.has(event.effectId);
  if (isOther && event.type === "llm.completed") responding.showOther(event);
  stop(loop, event.effectId);
};

const isAnswer = (event: Entry["event"]): event is Extract<Entry["event"], { readonly effectId: string }> =>
  "effectId" in event && event.type !== "llm.progressed" && event.type !== "tool.started";

const stop = (loop: LoopPort, effectId: string): void => {
  loop.running.get(effectId)?.stop(null);
  loop.running.delete(effectId);
};

const startTimer = (loop: LoopPort, { id, dueAt, purpose }: StartTimer): void => {
  const { clock } = loop.host;
  const cancel = clock.wakeAt(dueAt, () => {
    loop.running.delete(id);
    // A deadline cuts a reply off without carrying its shown part, so that part is journalled first.
    if (purpose === "deadline") loop.responding?.journalProgress();
    loop.post({ event: { type: "timer.fired", at: clock.now(), effectId: id }, sender: null });
  });
  loop.running.set(id, { stop: cancel });
};

/** Writes a summary in the background. Asks and hooks see nothing of it. */
const summarise = async (loop: LoopPort, call: CallLlm): Promise<void> => {
  const { host, running } = loop;
  const { clock } = host;
  const controller = new AbortController();
  const { signal } = controller;
  running.set(call.id, { stop: (reason) => controller.abort(reason ?? undefined) });
  if (!loop.mayCall()) return;
  const outcome = await callModel(host, call, { signal, clock, onDelta: () => {}, tools: [] });
  if (signal.aborted) return;
  running.delete(call.id);
  const event = llmAnswer(call, withoutPartial(outcome), clock.now(), undefined);
  loop.post({ event, sender: null, isRead: event.type === "llm.completed" });
};

/** Removes the partial reply of a failed summary: half a summary is useless, and no journal needs it. */
const withoutPartial = (outcome: GivenOutcome): GivenOutcome => {
  if (outcome.type !== "failed") return outcome;
  const { partial, ...failed } = outcome;
  // The part that arrived was paid for, in an unknown amount.
  return partial === undefined ? failed : { usage: {}, ...failed };
};

/** Checks an output. The check answers once, or is stopped. */
const checkOutput = (loop: LoopPort, check: CheckOutput): void => {
  const { host, running } = loop;
  const { id, text, output } = check;
  let isStopped = false;
  running.set(id, { stop: () => void (isStopped = true) });
  const answer = (checked: Checked): void => {
    if (isStopped) return;
    running.delete(id);
    loop.post({ event: answerOf(id, host.clock.now(), checked, keyFilter(host.secrets())), sender: null });
  };
  const checked = checkText(text, { schema: schemaOf(loop, check), jsonSchema: output.schema }, host.clock);
  if (checked instanceof Promise) void checked.then(answer);
  else answer(checked);
};

const answerOf = (
  effectId: string,
  at: number,
  checked: Checked,
  { text, json }: KeyFilter,
): OutputAccepted | OutputRefused => {
  switch (checked.type) {
    case "valid":
      return { type: "output.accepted", at, effectId, value: checked.value };
    case "invalid":
      return { type: "output.refused", at, effectId, issues: json(checked.issues) };
    case "failed":
      return { type: "output.refused", at, effectId, issues: [{ message: text(checked.reason) }], checkFailed: true };
  }
};

/** Returns the schema of a live ask for this same output; null if none is left, as after a crash. */
const schemaOf = ({ state, asks }: LoopPort, { output }: CheckOutput): StandardSchema | null => {
  const wanted = canonicalText(output.schema);
  for (const { askId } of state?.context.open?.asks ?? []) {
    for (const ask of asks.withId(askId)) {
      const { output: own } = ask;
      if (own !== null && own.expected.name === output.name && canonicalText(own.expected.schema) === wanted)
        return own.schema;
    }
  }
  return null;
};
