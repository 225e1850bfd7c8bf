import {
  type Content,
  type LaterEntry,
  type LlmCompleted,
  type LlmFailed,
  noUsage,
  type OpenTurn,
  type ReportedUsage,
  type State,
  toArray,
  type ToolOutcome,
  type Turn,
  usageMonoid,
  usageOfCall,
} from "@colloquy/machine";
import { callIdAt, placeIn } from "@colloquy/machine/hosting";
import {
  errorOf,
  modelAttributes,
  outcomeAttributes,
  requestAttributes,
  type TelemetryOptions,
  usageAttributes,
} from "./attributes.ts";
import { messagesText, resultText } from "./content.ts";
import { names } from "./conventions.ts";
import {
  addTo,
  beginSpan,
  endSpan,
  type GivenAttributes,
  happensIn,
  type SpanDraft,
  type TelemetrySpan,
} from "./span.ts";

/**
 * The spans of an open turn: `invoke_agent`, and under it a `chat` for each step, all its attempts together, and an
 * `execute_tool` for each tool call.
 */
export class TurnSpans {
  readonly number: number;
  readonly #threadId: string;
  readonly #options: TelemetryOptions;
  readonly root: SpanDraft;
  readonly #ended: TelemetrySpan[] = [];
  /** The call of the step that is under way, and what its attempts used. */
  #chat: SpanDraft | null = null;
  #used = noUsage;
  /** The calls of the round that have no result, by id. */
  readonly #tools = new Map<string, SpanDraft>();
  /** Times of events may go back; those of a trace don't. */
  #now: number;

  constructor(threadId: string, open: OpenTurn, options: TelemetryOptions) {
    this.number = open.number;
    this.#threadId = threadId;
    this.#options = options;
    this.#now = open.startedAt;
    this.root = beginSpan(null, { threadId, place: String(open.number) }, "invoke_agent", this.#now, {
      [names.agent]: options.agent,
      ...modelAttributes(open.model, options),
      [names.turn]: open.number,
      [names.inputMessages]: options.content === true ? messagesText(toArray(open.messages)) : null,
    });
  }

  /** What is out behind an entry, or before the first that was seen. */
  sees(state: State, { stage, step, number, model, output }: OpenTurn, at: number): void {
    this.#now = Math.max(this.#now, at);
    if (stage.type === "running" && this.#tools.size === 0)
      for (const [position, { name, arguments: written, result }] of stage.calls.entries())
        if (result === null) this.#beginTool(callIdAt(number, step, position), name, written);
    if (stage.type !== "responding") return;
    this.#chat ??= this.#child("chat", `${number}.${step}`, {
      ...requestAttributes(state, "answer", model, this.#options),
      [names.outputType]: output === undefined ? null : "json",
      [names.step]: step,
    });
    const { attempt, cut } = stage.call;
    addTo(this.#chat, {
      [names.attempts]: attempt === 1 ? null : attempt,
      [names.compacted]: cut.summarised === undefined ? null : true,
    });
  }

  /** What an entry says of the calls that were out. */
  entry({ event, decided = {} }: LaterEntry, before: OpenTurn, after: OpenTurn | null): void {
    this.#now = Math.max(this.#now, event.at);
    if (event.type === "llm.completed" || event.type === "llm.failed") this.#answered(event, before);
    else if ("effectId" in event) this.#ofTool(event, placeIn(event.effectId).replace(/[#!].*$/u, ""), before);
    for (const { position, outcome, content } of decided.results ?? [])
      this.#endTool(callIdAt(before.number, before.step, position), outcome, content);
    const goesOn = after?.number === this.number && after.stage.type === "running";
    if (!goesOn) for (const callId of this.#tools.keys()) this.#endTool(callId, "interrupted", null);
  }

  /** A span that is no step, as that of a summary is. */
  add(span: TelemetrySpan): void {
    this.#ended.push(span);
    this.#now = Math.max(this.#now, span.endedAt);
  }

  /** All spans of the turn, from its root on, as the turn ended. */
  closed({ event }: LaterEntry, { outcome, usage, answer, messages }: Turn): readonly TelemetrySpan[] {
    const message = toArray(messages).findLast(({ id }) => id === answer);
    const said = this.#options.content === true && message !== undefined ? messagesText([message]) : null;
    const error = errorOf(outcome);
    if (event.type === "cancel.requested") this.#uses(event.usage);
    this.#endChat(error, { [names.finishReasons]: ["error"], [names.outputMessages]: said });
    const reason = "finishReason" in outcome ? outcome.finishReason : null;
    addTo(this.root, {
      [names.finishReasons]: reason === null ? null : [reason],
      [names.outputMessages]: said,
      ...usageAttributes(usage),
    });
    return this.#all(outcome.status, error);
  }

  /** All spans of the turn, as if they ended now. */
  open(): readonly TelemetrySpan[] {
    this.#endChat(null, {});
    for (const span of this.#tools.values()) this.#ended.push(endSpan(span, this.#now, null));
    return this.#all("open", null);
  }

  #all(status: string, error: string | null): readonly TelemetrySpan[] {
    addTo(this.root, { [names.turnStatus]: status });
    return [endSpan(this.root, this.#now, error), ...this.#ended];
  }

  #answered(event: LlmCompleted | LlmFailed, { number, step, stage }: OpenTurn): void {
    if (stage.type !== "responding" || placeIn(event.effectId) !== `${number}.${step}#${stage.call.attempt}`) return;
    this.#uses(event.usage);
    if (event.type === "llm.failed") {
      // Where the call is not made again, the turn ends, and its span with it.
      if (this.#chat === null) return;
      addTo(this.#chat, outcomeAttributes(event, this.#options));
      happensIn(this.#chat, names.attemptFailed, this.#now, { [names.errorType]: event.failure.kind });
      return;
    }
    this.#endChat(null, outcomeAttributes(event, this.#options));
    for (const [position, call] of (event.reply.toolCalls ?? []).entries())
      this.#beginTool(callIdAt(number, step, position), call.name, call.arguments);
  }

  #ofTool(event: LaterEntry["event"], callId: string, { stage }: OpenTurn): void {
    const span = this.#tools.get(callId);
    if (span === undefined) return;
    if (event.type === "tool.withheld") {
      happensIn(span, names.approvalRequested, this.#now, { [names.because]: event.because });
    } else if (event.type === "approval.answered") {
      happensIn(span, event.approved ? names.approved : names.denied, this.#now);
      const call = stage.type === "running" ? stage.calls[Number(callId.split(".").at(-1))] : undefined;
      const wasStarted = call?.approval?.status === "requested" && call.approval.because === "unknown_outcome";
      if (!event.approved) this.#endTool(callId, wasStarted ? "unknown" : "refused", null);
    } else if (event.type === "tool.completed" || event.type === "tool.failed") {
      this.#endTool(callId, event.type === "tool.completed" ? "completed" : event.outcome, event.content);
    }
  }

  #beginTool(callId: string, name: string, written: string): void {
    const span = this.#child("execute_tool", callId, {
      [names.toolName]: name,
      [names.toolType]: "function",
      [names.toolCallId]: callId,
      [names.toolArguments]: this.#options.content === true ? written : null,
    });
    this.#tools.set(callId, span);
  }

  #endTool(callId: string, outcome: ToolOutcome, content: Content | null): void {
    const span = this.#tools.get(callId);
    if (span === undefined) return;
    this.#tools.delete(callId);
    addTo(span, {
      [names.toolResult]: this.#options.content === true && content !== null ? resultText(content) : null,
    });
    this.#ended.push(endSpan(span, this.#now, outcome === "completed" ? null : outcome));
  }

  #uses(usage: ReportedUsage | undefined): void {
    this.#used = usageMonoid.concat(this.#used, usageOfCall(usage ?? null, null));
  }

  #endChat(error: string | null, attributes: GivenAttributes): void {
    if (this.#chat === null) return;
    addTo(this.#chat, { ...attributes, ...usageAttributes(this.#used) });
    this.#ended.push(endSpan(this.#chat, this.#now, error));
    this.#chat = null;
    this.#used = noUsage;
  }

  #child(operation: TelemetrySpan["operation"], place: string, attributes: GivenAttributes): SpanDraft {
    return beginSpan(this.root, { threadId: this.#threadId, place }, operation, this.#now, attributes);
  }
}
