import {
  contentText,
  type Content,
  type Event,
  type LaterEntry,
  type OpenTurn,
  type State,
  toArray,
  turnNumbered,
  usageOfCall,
  type Entry,
} from "@colloquy/machine";
import { callIdAt, placeIn, type RoundCall } from "@colloquy/machine/hosting";
import { foldVisiting, type JournalError } from "@colloquy/machine/journal";
import * as attributes from "./attributes.ts";
import * as Either from "fp-ts/lib/Either.js";
import { type TelemetryOptions, messagesText } from "./attributes.ts";
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
 * Follows one thread, from any entry on. Both the spans of journals and those of hosts use it. A turn is an
 * `invoke_agent` span. Below it are a `chat` for each step, which includes all its attempts, and an `execute_tool` for
 * each tool call. A summary is a `chat` below the turn that requested it, which it may outlast; between turns it has
 * its own trace.
 */
export class Projection {
  readonly #options: attributes.TelemetryOptions;
  readonly #content: boolean;
  #threadId = "";
  /** The span of the open turn; null between turns. */
  #root: SpanDraft | null = null;
  /** The outstanding spans, by their place in the thread: the call of a step, tool calls, a summary. */
  readonly #out = new Map<string, SpanDraft>();
  /** The ended spans of the open turn, and the spans to return next. */
  readonly #ended: TelemetrySpan[] = [];
  readonly #given: TelemetrySpan[] = [];
  /** Event times may go back; the times of a turn never do. */
  #now = 0;

  constructor(options: attributes.TelemetryOptions) {
    this.#options = options;
    this.#content = options.content === true;
  }

  /** Returns the spans that an entry completes: those of a turn, from its root on, and of a summary outside. */
  entry(entry: LaterEntry, before: State, after: State): readonly TelemetrySpan[] {
    const { event, decided = {} } = entry;
    const { open, summarising } = before.context;
    // Another process may have begun the pending work.
    if (this.#root === null && this.#out.size === 0) this.#begin(before, before.context.updatedAt);
    this.#now = this.#root === null ? event.at : Math.max(this.#now, event.at);
    const place = "effectId" in event ? placeIn(event.effectId).replace(/[#!].*$/u, "") : "";
    this.#note(place, event);
    if (open !== null) this.#answer(place, entry, open, after.context.open);
    if (summarising !== null && after.context.summarising?.number !== summarising.number) {
      const summary = `summary-${summarising.number}`;
      const unusable = decided.summaryFailed === undefined ? null : "unusable";
      const failure = event.type === "llm.failed" ? event.failure.kind : unusable;
      this.#end(summary, place === summary ? failure : "cancelled");
    }
    if (open !== null && after.context.open?.number !== open.number) this.#close(event, open, after);
    this.#begin(after, event.at);
    return this.#given.splice(0);
  }

  /** Returns all unreturned spans, as if they ended now. Call no other method afterwards. */
  open(): readonly TelemetrySpan[] {
    for (const place of this.#out.keys()) this.#end(place, null);
    if (this.#root !== null) this.#endTurn(this.#root, "open", null);
    return this.#given;
  }

  #begin(state: State, at: number): void {
    const { open, summarising, threadId } = state.context;
    this.#threadId = threadId;
    if (open !== null) {
      this.#root ??= this.#beginTurn(open);
      this.#now = Math.max(this.#now, at);
      this.#beginStep(state, open);
    }
    const place = `summary-${summarising?.number}`;
    if (summarising === null || this.#out.has(place)) return;
    const isOfTurn = open !== null && open.number === summarising.turn;
    const span = beginSpan(isOfTurn ? this.#root : null, { threadId, place }, "chat", isOfTurn ? this.#now : at, {
      ...attributes.ofRequest(state, "summary", summarising.model, this.#options),
      [names.summary]: summarising.number,
    });
    this.#out.set(place, span);
  }

  #beginTurn({ number, startedAt, model, messages, stage, step }: OpenTurn): SpanDraft {
    this.#now = startedAt;
    this.#root = beginSpan(null, { threadId: this.#threadId, place: String(number) }, "invoke_agent", startedAt, {
      [names.agent]: this.#options.agent,
      ...attributes.ofModel(model, this.#options),
      [names.turn]: number,
      [names.inputMessages]: this.#content ? messagesText(toArray(messages)) : null,
    });
    // Only if another process began them; otherwise a reply begins them.
    if (stage.type === "running")
      for (const [position, call] of stage.calls.entries())
        if (call.result === null) this.#beginTool(isOffered(call), callIdAt(number, step, position), call);
    return this.#root;
  }

  #beginStep(state: State, { number, step, stage, model, output }: OpenTurn): void {
    if (stage.type !== "responding") return;
    const { attempt, cut } = stage.call;
    const span =
      this.#out.get(`${number}.${step}`) ??
      this.#beginBelow("chat", `${number}.${step}`, {
        ...attributes.ofRequest(state, "answer", model, this.#options),
        [names.outputType]: output === undefined ? null : "json",
        [names.step]: step,
      });
    addTo(span, {
      [names.attempts]: attempt === 1 ? null : attempt,
      [names.compacted]: cut.summarised === undefined ? null : true,
    });
  }

  /** @param isNamed true if its name was offered, not made up by the model */
  #beginTool(
    isNamed: boolean,
    callId: string,
    { name, arguments: written }: { readonly name: string; readonly arguments: string },
  ): void {
    this.#beginBelow("execute_tool", callId, {
      [names.toolName]: isNamed || this.#content ? name : null,
      [names.toolType]: "function",
      [names.toolCallId]: callId,
      [names.toolArguments]: this.#content ? written : null,
    });
  }

  #beginBelow(operation: TelemetrySpan["operation"], place: string, given: GivenAttributes): SpanDraft {
    const span = beginSpan(this.#root, { threadId: this.#threadId, place }, operation, this.#now, given);
    this.#out.set(place, span);
    return span;
  }

  #note(place: string, event: Event): void {
    const span = this.#out.get(place);
    if (span === undefined) return;
    if (event.type === "llm.completed" || event.type === "llm.failed") {
      addTo(span, attributes.ofOutcome(event, this.#content, span.attributes[names.requestModel]));
      addTo(span, attributes.ofUsage(usageOfCall(event.usage ?? null, null), span.attributes));
    }
    if (event.type === "llm.failed")
      happensIn(span, names.attemptFailed, this.#now, { [names.errorType]: event.failure.kind });
    if (event.type === "tool.withheld")
      happensIn(span, names.approvalRequested, this.#now, { [names.because]: event.because });
    if (event.type === "approval.answered") happensIn(span, event.approved ? names.approved : names.denied, this.#now);
  }

  /** Ends the spans of calls that an entry answers. A failed model call is retried, or ends with its turn. */
  #answer(place: string, { event, decided = {} }: LaterEntry, before: OpenTurn, after: OpenTurn | null): void {
    const { number, step, stage } = before;
    if (event.type === "llm.completed" && this.#out.has(place) && place === `${number}.${step}`) {
      this.#end(place, null);
      for (const [position, call] of (event.reply.toolCalls ?? []).entries())
        this.#beginTool(wasOffered(stage, call.name, decided, position), callIdAt(number, step, position), call);
    }
    if (event.type === "tool.completed") this.#end(place, null, this.#resultOf(event.content));
    if (event.type === "tool.failed") this.#end(place, event.outcome, this.#resultOf(event.content));
    if (event.type === "approval.answered" && !event.approved) {
      const call = stage.type === "running" ? stage.calls[Number(place.split(".").at(-1))] : undefined;
      const wasStarted = call?.approval?.status === "requested" && call.approval.because === "unknown_outcome";
      this.#end(place, wasStarted ? "unknown" : "refused");
    }
    for (const { position, outcome, content } of decided.results ?? [])
      this.#end(callIdAt(number, step, position), outcome, this.#resultOf(content));
    if (after?.number === number && after.stage.type === "running") return;
    for (const [callId, { operation }] of this.#out) if (operation === "execute_tool") this.#end(callId, "interrupted");
  }

  #resultOf(content: Content | null): GivenAttributes {
    return { [names.toolResult]: this.#content && content !== null ? contentText(content) : null };
  }

  #close(event: Event, { number, step, stage }: OpenTurn, after: State): void {
    const turn = turnNumbered(after, number);
    const root = this.#root;
    if (turn === undefined || root === null) return;
    const { outcome, usage, answer, messages } = turn;
    const message = this.#content ? toArray(messages).find(({ id }) => id === answer) : undefined;
    const said = { [names.outputMessages]: message && messagesText([message]) };
    const error = attributes.errorOf(outcome);
    const call = this.#out.get(`${number}.${step}`);
    // Between two attempts no call is outstanding, so there is no cost to add.
    if (call !== undefined && event.type === "cancel.requested" && stage.type === "responding")
      addTo(call, attributes.ofUsage(usageOfCall(event.usage ?? null, null), call.attributes));
    this.#end(`${number}.${step}`, error, { [names.finishReasons]: ["error"], ...said });
    const reason = "finishReason" in outcome ? outcome.finishReason : null;
    addTo(root, {
      ...said,
      ...attributes.ofUsage(usage),
      [names.finishReasons]: attributes.reasonsOf(reason, this.#content),
    });
    this.#endTurn(root, outcome.status, error);
  }

  #endTurn(root: SpanDraft, status: string, error: string | null): void {
    addTo(root, { [names.turnStatus]: status });
    this.#given.push(endSpan(root, this.#now, error));
    for (const span of this.#ended.splice(0)) this.#given.push(span);
    this.#root = null;
  }

  #end(place: string, error: string | null, given: GivenAttributes = {}): void {
    const span = this.#out.get(place);
    if (span === undefined) return;
    this.#out.delete(place);
    addTo(span, given);
    (span.traceId === this.#root?.traceId ? this.#ended : this.#given).push(endSpan(span, this.#now, error));
  }
}

/** Returns whether a call names an offered tool. Without a list of tools, an unknown one is answered at once. */
const wasOffered = (
  stage: OpenTurn["stage"],
  name: string,
  { results = [], limit }: NonNullable<LaterEntry["decided"]>,
  position: number,
): boolean => {
  const offered = stage.type === "responding" ? stage.call.tools : undefined;
  if (offered !== undefined) return offered.some((tool) => tool.name === name);
  return limit !== undefined || !results.some((result) => result.position === position);
};

/** Returns the same for a call that another process began, by its progress. */
const isOffered = ({ started, approval, by }: RoundCall): boolean => started || approval !== null || by === "caller";

/** Selects the spans of a journal. */
export interface SpansOptions extends TelemetryOptions {
  /**
   * Includes the spans of the open turn and of a pending summary, as if they ended with the last entry. Default:
   * false.
   */
  readonly open?: boolean;
}

/**
 * Returns the spans of a journal, a trace for each turn, in the order in which turns ended. Pure, so that telemetry
 * can be created later from any recording. When the journal grows, new spans follow these, and only open ones change.
 *
 * Turns that a fork copied belong to its origin, and turns added by hand never ran: neither has spans here.
 */
export const spansOf = (
  entries: readonly Entry[],
  { open = false, ...options }: SpansOptions = {},
): Either.Either<JournalError, readonly TelemetrySpan[]> => {
  const spans: TelemetrySpan[] = [];
  let projection = new Projection(options);
  const visit = (entry: LaterEntry, before: State, after: State): void => {
    if (entry.event.type === "thread.forked") {
      projection = new Projection(options);
      spans.length = 0;
    } else for (const span of projection.entry(entry, before, after)) spans.push(span);
  };
  return Either.map((): readonly TelemetrySpan[] => (open ? [...spans, ...projection.open()] : spans))(
    foldVisiting(entries, visit),
  );
};
