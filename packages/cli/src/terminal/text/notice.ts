import type { AskPart, AskSignal } from "@colloquy/host";
import { contentText } from "@colloquy/machine";
import type { TurnRange } from "@colloquy/machine/policies";
import { counted } from "./figures.ts";
import { oneLine, shortened } from "./printable.ts";

/**
 * Describes an event beside an answer, in one line; null if it does not matter to a person.
 *
 * @param whole whether not to shorten it
 */
export const noteOf = (part: AskPart, whole: boolean): string | null => {
  const cut = whole ? oneLine : shortened;
  switch (part.type) {
    case "toolCall":
      return `${oneLine(part.name)} ${cut(part.arguments)}`;
    case "toolResult":
      if (part.outcome === "completed" && !whole) return null;
      return `${oneLine(part.name)} ${part.outcome}: ${cut(contentText(part.content))}`;
    case "signal":
      return noticeOf(part.signal);
    case "result.requested":
      return `${oneLine(part.name)} waits for whoever asked to answer call ${part.callId}`;
    case "wait.started":
      return part.for === "lease"
        ? "waiting for the process that has the thread, or for its lease to run out"
        : "waiting for the model's turn";
    case "thread.forked":
      return `the thread is busy; it goes on as thread ${oneLine(part.threadId)}`;
    case "thread.lost":
      return "another process went on with the thread; what was shown is void";
    case "replay.started":
      return "what was shown of this step is void; it is shown anew";
    case "parts.dropped":
      return "…";
    default:
      return null;
  }
};

/** Describes a signal for the waiting user, in one line; null if it does not matter to them. */
export const noticeOf = (signal: AskSignal): string | null => {
  switch (signal.type) {
    case "retry.scheduled":
      return `${signal.because}: trying again at ${timeOf(signal.dueAt)} (attempt ${signal.attempt})`;
    case "output.refused":
      return "the answer does not have the form that was asked for";
    case "ask.queued":
      return "an earlier turn is ended first";
    case "ask.joined":
      return "the model reads it next, within this turn";
    case "turn.interrupted":
      return "the turn before is broken off for it";
    case "policy.failed":
      return `${shortened(signal.reason)}: all is shown instead`;
    case "context.warning":
      return warningOf(signal);
    case "summary.started":
      return `summing up ${turnsOf(signal.covers)} …`;
    case "summary.failed":
      return `${turnsOf(signal.covers)} could not be summed up: ${shortened(signal.reason)}`;
    // The model's later answers show it.
    case "summary.completed":
    // The turn's final error contains it.
    case "context.unfit":
    case "limit.reached":
    case "ask.withdrawn":
    case "ask.superseded":
    case "ask.returned":
    // It was announced when it joined.
    case "ask.delivered":
      return null;
  }
};

/** Returns the time of day, which stays true during the wait. */
const timeOf = (at: number): string => new Date(at).toLocaleTimeString("en-GB");

type ContextWarning = Extract<AskSignal, { readonly type: "context.warning" }>;

/** Describes a warning. The tokens are counted before the call, so they are approximate. */
const warningOf = ({ warning, messages, tokens, available }: ContextWarning): string => {
  const room = `${counted(messages, "message")}, about ${counted(tokens, "token")} of ${counted(available, "token")}`;
  return warning === "at_limit"
    ? `the model's window is full (${room}): what is older is left out, shortened or summed up`
    : `the model's window is filling up: ${room}`;
};

const turnsOf = ({ from, to }: TurnRange): string => (from === to ? `turn ${to}` : `turns ${from} to ${to}`);
