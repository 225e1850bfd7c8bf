import { toArray, type Entry, type LaterEntry, type State, turnNumbered } from "@colloquy/machine";
import { foldEntry } from "@colloquy/machine/journal";
import type { TimelineRow, TurnSpan, TurnView } from "../wire/wire.ts";
import { moneyOf, usageWords } from "./thread-views.ts";
import { beginning } from "./timeline-row.ts";

/** The journal of a thread, with its rows and states. */
export interface Journal {
  readonly entries: readonly Entry[];
  readonly rows: readonly TimelineRow[];
  /** The state after the newest entry. */
  readonly state: State;
  /** Returns the state after an existing entry. */
  at(seq: number): State;
}

/** Returns a turn as a waterfall of its calls, tools and waits; null for an unknown turn. Pure. */
export const turnView = (journal: Journal, number: number, now: number): TurnView | null => {
  const { entries, rows, state } = journal;
  const { open } = state.context;
  const turn = open?.number === number ? open : turnNumbered(state, number);
  const first = rows.findIndex((row) => row.turn === number);
  if (turn === undefined || first < 1) return null;
  const last = turn === open ? Infinity : rows.findLastIndex((row) => row.turn === number);
  const until = "endedAt" in turn ? turn.endedAt : Math.max(now, turn.startedAt);
  return {
    turn: number,
    status: "outcome" in turn ? turn.outcome.status : "open",
    from: turn.startedAt,
    until,
    usage: usageWords(turn.usage),
    spans: spansOf(journal.at(first - 1), entries.slice(first), number, last),
  };
};

/**
 * Returns the spans of the work of a turn. A span ends with the entry after which its work is not pending.
 *
 * @param last the `seq` of the turn's last entry, Infinity for an open turn. A summary may end later.
 */
const spansOf = (start: State, entries: readonly Entry[], turn: number, last: number): readonly TurnSpan[] => {
  const spans = new Map<string, TurnSpan>();
  let state = start;
  let before = pendingIn(start, turn);
  for (const entry of entries) {
    if (entry.seq > last && before.size === 0) break;
    // No first entry is of a turn.
    state = foldEntry(state, entry as LaterEntry);
    const after = pendingIn(state, turn);
    const { at } = entry.event;
    for (const [key, span] of spans) {
      if (span.until === null && before.has(key) && !after.has(key))
        spans.set(key, { ...span, until: Math.max(at, span.from), ...outcomeOf(entry) });
    }
    for (const [key, [kind, name]] of after) {
      if (!before.has(key))
        spans.set(key, { kind, name, detail: "", failed: false, from: at, until: null, seq: entry.seq });
    }
    before = after;
  }
  return [...spans.values()];
};

type Pending = ReadonlyMap<string, readonly [kind: TurnSpan["kind"], name: string]>;

/** Returns the work of a turn that is pending in a state, by an id. */
const pendingIn = ({ context: { open, summarising } }: State, turn: number): Pending => {
  const found = new Map<string, readonly [TurnSpan["kind"], string]>();
  if (summarising?.turn === turn) found.set(`summary ${summarising.number}`, ["model", "summary"]);
  if (open?.number !== turn) return found;
  const { stage, step } = open;
  if (stage.type === "responding") {
    const { attempt } = stage.call;
    found.set(`${step}#${attempt}`, ["model", `model call ${step}${attempt === 1 ? "" : `, attempt ${attempt}`}`]);
  } else if (stage.type !== "running")
    found.set(`${step} ${stage.type} ${toArray(open.messages).length}`, ["wait", waits[stage.type]]);
  else
    for (const { callId, name, attempt, approval, by, result } of stage.calls) {
      if (result !== null || approval?.status === "required") continue;
      if (approval?.status === "requested") found.set(`${callId}!${approval.number}`, ["wait", `${name}: approval`]);
      else if (by === "caller") found.set(callId, ["wait", `${name}: the caller's result`]);
      else found.set(`${callId}#${attempt}`, ["tool", name]);
    }
  return found;
};

const waits = { backing_off: "before a retry", compacting: "for a summary", checking: "check of the output" } as const;

const outcomeOf = (entry: Entry): Pick<TurnSpan, "detail" | "failed"> => {
  const { event } = entry;
  switch (event.type) {
    case "llm.completed":
    case "llm.failed": {
      const { inputTokens, outputTokens } = event.usage ?? {};
      const cost = "decided" in entry ? entry.decided?.cost : undefined;
      const words = [
        event.type === "llm.failed" ? beginning(`${event.failure.kind}: ${event.failure.message}`) : "",
        event.model ?? "",
        inputTokens === undefined ? "" : `${inputTokens.toLocaleString("en")} in`,
        outputTokens === undefined ? "" : `${outputTokens.toLocaleString("en")} out`,
        cost === undefined ? "" : moneyOf(cost.nano, cost.currency),
      ];
      return { detail: words.filter((word) => word !== "").join(", "), failed: event.type === "llm.failed" };
    }
    case "tool.failed":
      return { detail: event.outcome, failed: true };
    case "approval.answered":
      return { detail: event.approved ? "approved" : "denied", failed: !event.approved };
    case "cancel.requested":
      return { detail: "cancelled", failed: true };
    default:
      return { detail: "", failed: event.type === "output.refused" };
  }
};
