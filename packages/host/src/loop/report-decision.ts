import { type Event, type State, type ThreadStarted } from "@colloquy/machine";
import { callOut, turnOfEffect } from "@colloquy/machine/hosting";
import type { AskPart } from "../turn-log/parts.ts";
import type { RunContext } from "../context/host-context.ts";
import { ShownOutput } from "../output/partial-json.ts";
import type { HandledDecision } from "./decision.ts";
import { asksShown, reportEffect, reportEntry, type ReportPort, reportResult, showReply } from "./report.ts";

/** A part that is shown to the asks of a turn. */
export interface ShownPart {
  readonly turn: number;
  readonly part: AskPart;
}

/**
 * Reports a decision as the loop does, once its entries are stored. Returns the parts that it shows to asks, in order.
 */
export const reportDecision = (
  host: RunContext,
  threadId: string,
  { steps }: HandledDecision,
  streamed: boolean,
): readonly ShownPart[] => {
  const parts: ShownPart[] = [];
  for (const { before, entry, effects, after } of steps) {
    const open = before?.context.open ?? after.context.open;
    const newest = (): number | null => parts.at(-1)?.turn ?? open?.number ?? null;
    const asks = asksShown((turn, part) => void parts.push({ turn, part }), newest);
    const port = { threadId, host, asks, state: after };
    if (before !== null) reportAnswer(port, entry.event, before, streamed);
    reportEntry(port, entry, before, after);
    for (const effect of effects) reportEffect(port, effect);
  }
  return parts;
};

/** Makes the reports that the runs of a loop make when their answer is journalled. */
const reportAnswer = (port: ReportPort, event: Event | ThreadStarted, before: State, streamed: boolean): void => {
  if (event.type === "tool.completed" || event.type === "tool.failed") {
    const call = callOut(before, event.effectId);
    if (call !== undefined && call.by === undefined) reportResult(port, call, event);
    return;
  }
  const { open } = before.context;
  if (event.type !== "llm.completed" || open?.stage.type !== "responding") return;
  // A summary belongs to no turn.
  if (turnOfEffect(event.effectId) === null) return;
  const { number: turn, step, stage, output } = open;
  const { attempt } = stage.call;
  showReply(port, { turn, step, attempt, output: output === undefined ? null : new ShownOutput() }, event, streamed);
};
