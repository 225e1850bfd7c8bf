import {
  type ApprovalAnswered,
  approvalsOf,
  type CallLlm,
  type CallTool,
  type Effect,
  type Entry,
  type LlmCompleted,
  type State,
  type ToolCompleted,
  type ToolFailed,
  type Turn,
  turnNumbered,
} from "@colloquy/machine";
import { callIdAt, callToAnswer, denialOf, placeIn } from "@colloquy/machine/hosting";
import { Asks, announce } from "../ask/asks.ts";
import type { RunContext } from "../context/host-context.ts";
import type { ShownOutput } from "../output/partial-json.ts";
import { approvalPart, type AskPart, resultPart, resultRequested, type ToolResultPart } from "../turn-log/parts.ts";

export interface ReportPort {
  readonly threadId: string;
  readonly host: Pick<RunContext, "observation">;
  readonly asks: Asks;
  readonly state: State | null;
}

/** Reports a stored entry, and the tool results in it that did not come from a tool of this host. */
export const reportEntry = (
  { threadId, host, asks }: ReportPort,
  entry: Entry,
  before: State | null,
  after: State,
): void => {
  if (host.observation.isObserved) host.observation.entry(entry, threadId, { before, after });
  if (before !== null) for (const part of resultsIn(entry, before)) asks.recorder?.record(part.turn, part);
};

/** Reports an effect that the machine asks for, before it is performed. */
export const reportEffect = (port: ReportPort, effect: Effect): void => {
  switch (effect.type) {
    case "callLlm":
      if (effect.purpose === "answer") beginStep(port, effect);
      return;
    case "callTool":
      if (effect.by !== "caller") return;
      port.asks.recorder?.record(effect.turn, resultRequested(effect));
      port.host.observation.callToAnswer(effect, port.threadId);
      return;
    case "requestApproval":
      port.asks.recorder?.record(effect.turn, approvalPart(effect));
      port.host.observation.approval(effect, port.threadId);
      return;
    case "publish": {
      const { signal } = effect;
      if (port.host.observation.isObserved) port.host.observation.signal(signal, port.threadId);
      if (port.state === null) return;
      const ended = signal.type === "turn.ended" ? turnNumbered(port.state, signal.turn) : undefined;
      if (ended !== undefined) endTurn(port, ended);
      announce(port.asks, signal, port.state, ended);
      return;
    }
    case "checkOutput":
    case "startTimer":
    case "cancelLlm":
    case "cancelCheck":
    case "cancelTool":
    case "cancelApproval":
    case "cancelTimer":
  }
};

/** Reports the answer of a tool call, once it is journalled. */
export const reportResult = ({ asks, host }: ReportPort, call: CallTool, event: ToolCompleted | ToolFailed): void => {
  asks.recorder?.record(call.turn, resultPart(call, event));
  if (host.observation.hooks.afterToolCall !== undefined) host.observation.after("afterToolCall", call, event);
};

/** A model call whose reply is shown, with the parser of its partial output; null if no output is wanted. */
export interface ShownCall extends Pick<CallLlm, "turn" | "step" | "attempt"> {
  readonly output: ShownOutput | null;
}

/**
 * Shows the parts of a journalled reply that its deltas did not show: its calls, and all of its text if nothing was
 * streamed.
 */
export const showReply = (port: ReportPort, shown: ShownCall, { reply }: LlmCompleted, streamed: boolean): void => {
  const { turn, step } = shown;
  if (!streamed) {
    const parts = typeof reply.content === "string" ? [{ type: "text", text: reply.content } as const] : reply.content;
    for (const part of parts ?? []) {
      if (part.type !== "text" && part.type !== "reasoning" && part.type !== "refusal") continue;
      showText(port, shown, part.type, part.text);
    }
  }
  reply.toolCalls?.forEach((call, position) => {
    const place = { turn, step, position, callId: callIdAt(turn, step, position) };
    port.asks.recorder?.record(turn, { type: "toolCall", ...place, name: call.name, arguments: call.arguments });
  });
};

/** Shows a text, and the partial output if one is wanted. */
export const showText = (
  { asks, state }: Pick<ReportPort, "asks" | "state">,
  { turn, step, attempt, output }: ShownCall,
  type: "text" | "reasoning" | "refusal",
  text: string,
): void => {
  asks.recorder?.record(turn, { type: deltaOf[type], turn, step, attempt, text });
  const value = type === "text" ? output?.add(text) : undefined;
  const refused = state?.context.open?.refusedOutputs?.length ?? 0;
  if (value !== undefined)
    asks.recorder?.record(turn, { type: "output.partial", turn, step, attempt: refused + 1, value });
};

const deltaOf = { text: "text.delta", reasoning: "reasoning.delta", refusal: "refusal.delta" } as const;

/** Starts a step at its first attempt, or at a later one if another host made the earlier ones. */
const beginStep = (port: ReportPort, { turn, step, attempt }: CallLlm): void => {
  if (attempt > 1 && port.asks.recorder?.log(turn)?.hasStartedStep(step) !== false) return;
  if (step > 1) endStep(port, turn, step - 1);
  port.asks.recorder?.record(turn, { type: "step.started", turn, step });
};

const endStep = ({ threadId, host, asks }: ReportPort, turn: number, step: number): void => {
  // It may have been shown before a crash.
  if (asks.recorder?.log(turn)?.hasEndedStep(step) !== true)
    asks.recorder?.record(turn, { type: "step.ended", turn, step });
  if (host.observation.hooks.afterStep !== undefined) host.observation.after("afterStep", { threadId, turn, step });
};

/** Ends the last step of a turn, and calls the hook. The asks are told by `announce`. */
const endTurn = (port: ReportPort, turn: Turn): void => {
  const { threadId, host } = port;
  if (turn.steps > 0) endStep(port, turn.number, turn.steps);
  if (host.observation.hooks.afterTurn !== undefined) host.observation.after("afterTurn", { threadId, turn });
};

/**
 * Makes the asks of a thread whose callers are in other processes: none, only a recorder that passes each part to
 * `show`. @param newest returns the newest turn of which parts are shown, if known
 */
export const recordingAsks = (show: (turn: number, part: AskPart) => void, newest: () => number | null): Asks => {
  const asks = new Asks();
  asks.recorder = {
    begin: () => {},
    record: show,
    log: () => null,
    get newest() {
      return newest();
    },
  };
  return asks;
};

/** Returns the results in an entry that no tool of this host gave: the machine's, and the caller's. */
const resultsIn = (entry: Entry, before: State): readonly ToolResultPart[] => {
  const { event } = entry;
  if (event.type === "approval.answered") return [...resultsDenied(event, before), ...resultsDecided(entry, before)];
  if (event.type !== "tool.completed" && event.type !== "tool.failed") return resultsDecided(entry, before);
  const answered = callToAnswer(before, event.effectId);
  return answered === undefined ? [] : [resultPart(answered, event)];
};

const resultsDenied = (event: ApprovalAnswered, before: State): readonly ToolResultPart[] => {
  const request = event.approved
    ? undefined
    : approvalsOf(before).find(({ id }) => placeIn(id) === placeIn(event.effectId));
  if (request === undefined) return [];
  const { turn, step, position, callId, name } = request;
  return [{ type: "toolResult", turn, step, position, callId, name, ...denialOf(request, event) }];
};

const resultsDecided = (entry: Entry, before: State): readonly ToolResultPart[] => {
  const { open } = before.context;
  const results = "decided" in entry ? (entry.decided?.results ?? []) : [];
  if (open === null) return [];
  const written = entry.event.type === "llm.completed" ? entry.event.reply.toolCalls : undefined;
  const calls = written ?? (open.stage.type === "running" ? open.stage.calls : []);
  const place = { type: "toolResult", turn: open.number, step: open.step } as const;
  return results.map((result) => ({
    ...place,
    callId: callIdAt(open.number, open.step, result.position),
    ...result,
    name: calls[result.position]?.name ?? "",
  }));
};
