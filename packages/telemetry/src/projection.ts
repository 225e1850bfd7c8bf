import { type Decided, type LaterEntry, type State, turnNumbered, usageOfCall } from "@colloquy/machine";
import { placeIn } from "@colloquy/machine/hosting";
import { outcomeAttributes, requestAttributes, type TelemetryOptions, usageAttributes } from "./attributes.ts";
import { names } from "./conventions.ts";
import { addTo, beginSpan, endSpan, type SpanDraft, type TelemetrySpan } from "./span.ts";
import { TurnSpans } from "./turn-spans.ts";

/** Follows one thread, from any entry on: the one projection behind the spans of journals and those of hosts. */
export class Projection {
  readonly #options: TelemetryOptions;
  #turn: TurnSpans | null = null;
  /** The summary that is being written, and the turn that was open when it was asked for. */
  #summary: { readonly number: number; readonly turn: number | null; readonly span: SpanDraft } | null = null;

  constructor(options: TelemetryOptions) {
    this.#options = options;
  }

  /**
   * The spans of a turn that ended with an entry, from its root on. A summary has its span with those of the turn that it
   * was asked for in, or behind them where it took longer; between turns it has a trace of its own.
   */
  entry(entry: LaterEntry, before: State, after: State): readonly TelemetrySpan[] {
    // Where somebody else began what is under way.
    if (this.#turn === null && this.#summary === null) this.#sees(before, before.context.updatedAt);
    const ended = [...this.#endSummary(entry, after), ...this.#endTurn(entry, before, after)];
    this.#sees(after, entry.event.at);
    return ended;
  }

  /** What is under way, as if it ended now; nothing can be asked afterwards. */
  open(): readonly TelemetrySpan[] {
    const summary = this.#summary === null ? [] : endSpan(this.#summary.span, 0, null);
    return [this.#turn?.open() ?? [], summary].flat();
  }

  #sees(state: State, at: number): void {
    const { open, summarising, threadId } = state.context;
    if (open !== null) {
      this.#turn ??= new TurnSpans(threadId, open, this.#options);
      this.#turn.sees(state, open, at);
    }
    if (summarising === null || this.#summary?.number === summarising.number) return;
    const { number, turn, model } = summarising;
    const above = this.#turn?.number === turn ? this.#turn.root : null;
    const span = beginSpan(above, { threadId, place: `summary-${number}` }, "chat", at, {
      ...requestAttributes(state, "summary", model, this.#options),
      [names.summary]: number,
    });
    this.#summary = { number, turn, span };
  }

  #endSummary({ event, decided = {} }: LaterEntry, after: State): readonly TelemetrySpan[] {
    const summary = this.#summary;
    if (summary === null || after.context.summarising?.number === summary.number) return [];
    this.#summary = null;
    const span = endSpan(summary.span, event.at, this.#outcome(summary.number, summary.span, event, decided));
    if (this.#turn === null || this.#turn.number !== summary.turn) return [span];
    this.#turn.add(span);
    return [];
  }

  /** Notes how a summary ended. Gives why it is of no use; null where it is. */
  #outcome(number: number, span: SpanDraft, event: LaterEntry["event"], { summaryFailed }: Decided): string | null {
    if (event.type !== "llm.completed" && event.type !== "llm.failed") return "cancelled";
    if (placeIn(event.effectId) !== `summary-${number}#1`) return "cancelled";
    addTo(span, {
      ...outcomeAttributes(event, this.#options),
      ...usageAttributes(usageOfCall(event.usage ?? null, null)),
    });
    if (event.type === "llm.failed") return event.failure.kind;
    return summaryFailed === undefined ? null : "unusable";
  }

  #endTurn(entry: LaterEntry, { context: { open } }: State, after: State): readonly TelemetrySpan[] {
    const spans = this.#turn;
    if (spans === null || open === null) return [];
    spans.entry(entry, open, after.context.open);
    if (after.context.open?.number === open.number) return [];
    this.#turn = null;
    const turn = turnNumbered(after, open.number);
    return turn === undefined ? [] : spans.closed(entry, turn);
  }
}
