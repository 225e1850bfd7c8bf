import type { Lease } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import {
  type AnswerableEffect,
  type CallLlm,
  type Entry,
  type Event,
  outstanding,
  type State,
  type Usage,
  usageMonoid,
  usageOfCall,
} from "@colloquy/machine";
import { fold, foldEntry } from "@colloquy/machine/journal";
import { redactedText } from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";
import { leafOf } from "../../arbitraries/coverage.ts";
import { type Broken, brokenByDecision, brokenByPrompt, brokenBySummary, type PromptRules } from "./prompts.ts";
import type { Opening, SimulatedProcess } from "../world/process.ts";
import type { World } from "../world/world.ts";

export const threadId = "simulated";

/** The one store of a simulation, with the facts about its journal. Each entry is checked when it is written. */
export class WatchedJournal {
  readonly store: Store;
  readonly entries: Entry[] = [];
  /** The fold of the journal; null before its first entry. */
  state: State | null = null;
  /** All effects that the journal ever requested, by id. */
  readonly asked: Map<string, AnswerableEffect> = new Map();
  /** The effects that are neither answered nor cancelled. */
  outstanding: readonly AnswerableEffect[] = [];
  /** The entries that answered an effect, by its id. */
  readonly answers: Map<string, Entry> = new Map();
  /** The tool calls whose start is journalled. */
  readonly started: Set<string> = new Set();
  /** The usage of all calls, added up from the entries alone. */
  usage: Usage = usageMonoid.empty;
  /** How often an event was handled in a state: `responding llm.completed`. */
  readonly transitions: Map<string, number> = new Map();
  /** The state before each ask was accepted, by the ask's id. */
  readonly askedUpon: Map<string, State> = new Map();
  newestToken = 0;
  /** The content of asks that were redacted. */
  readonly redacted: Set<string> = new Set();
  /** The opening of the thread under that lease. */
  newestOpening: Opening | null = null;
  /** The first broken law about prompts. It is reported at the end, since a break of other laws breaks these too. */
  brokenByPrompts: Broken | null = null;
  readonly world: World;
  readonly #rules: PromptRules;
  readonly #onWritten: (entry: Entry) => void;

  constructor(world: World, store: Store, rules: PromptRules, onWritten: (entry: Entry) => void) {
    this.world = world;
    this.store = store;
    this.#rules = rules;
    this.#onWritten = onWritten;
  }

  /** Whether a redaction is journalled but not finished: readers are not shown the words that are still there. */
  get isRedacting(): boolean {
    return this.entries.some(
      ({ event }) =>
        event.type === "thread.redacted" && event.seqs.some((seq) => this.entries[seq]?.redacted === undefined),
    );
  }

  append(lease: Lease, expectedSeq: number, entries: readonly Entry[]): void | Promise<void> {
    const writing = this.store.append(lease, expectedSeq, entries);
    if (writing !== undefined) return writing.then(() => this.#wrote(entries));
    this.#wrote(entries);
  }

  /** Replaces entries by the same entries without their words. */
  async rewrite(lease: Lease, entries: readonly Entry[]): Promise<void> {
    this.world.hasRewritten = true;
    await this.store.rewrite(lease, entries);
    for (const entry of entries) {
      const { event } = this.entries[entry.seq] ?? {};
      if (event?.type !== entry.event.type)
        this.world.breaks("R3", `entry ${entry.seq} (${event?.type ?? "none"}) was rewritten as ${entry.event.type}`);
      // A repeated rewrite finds the replaced text.
      if (event?.type === "ask.received" && typeof event.input === "string" && event.input !== redactedText)
        this.redacted.add(event.input);
      this.entries[entry.seq] = entry;
    }
    const folded = fold(this.entries);
    if (Either.isRight(folded)) this.state = folded.right;
    else this.world.breaks("M5", `a journal that was redacted can't be folded: ${folded.left.reason}`);
    if (this.state !== null) this.outstanding = outstanding(this.state);
  }

  #wrote(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.seq !== this.entries.length) {
        this.world.breaks("R3", `entry ${entry.seq} was written where ${this.entries.length} is due`);
      }
      this.entries.push(entry);
      this.world.note("journal", `${entry.seq} ${entry.event.type}${about(entry)}`);
      this.#follow(entry);
      this.#onWritten(entry);
    }
  }

  #follow(entry: Entry): void {
    const before = this.state;
    if (entry.event.type === "thread.started" || before === null) {
      const begun = fold([entry]);
      if (Either.isRight(begun)) this.state = begun.right;
      else this.world.breaks("M5", `a journal begins with an entry that can't be folded: ${begun.left.reason}`);
      return;
    }
    const { event } = entry;
    if (event.type === "ask.received") this.askedUpon.set(event.askId, before);
    this.#checkAnswer(entry, event);
    const after = foldEntry(before, { ...entry, event });
    this.state = after;
    this.#count(`${leafOf(before)} ${event.type}`);
    const later = { ...entry, event };
    this.brokenByPrompts ??= brokenByDecision(this.#rules, later, after) ?? brokenBySummary(before, later, after);
    if (
      before.context.open?.stage !== after.context.open?.stage ||
      before.context.waking !== after.context.waking ||
      before.context.summarising !== after.context.summarising
    ) {
      const out = this.outstanding;
      this.#refresh(after);
      this.#addUsage(out, entry);
    }
  }

  /** Checks M6: an answer belongs to an outstanding effect, and each is answered once. */
  #checkAnswer(entry: Entry, event: Event): void {
    if (!("effectId" in event)) return;
    const { effectId, type } = event;
    if (!this.outstanding.some(({ id }) => id === effectId)) {
      this.world.breaks("M6", `entry ${entry.seq} (${type}) was taken, and "${effectId}" is not outstanding`);
    }
    if (type === "tool.started") this.started.add(effectId);
    if (type === "tool.started" || type === "llm.progressed") return;
    if (this.answers.has(effectId)) {
      this.world.breaks("M6", `entry ${entry.seq} (${type}) answers "${effectId}" a second time`);
    }
    this.answers.set(effectId, entry);
  }

  /** Checks M7: one answering call at a time, and none beside a tool call. Summaries are written beside both. */
  #refresh(state: State): void {
    this.outstanding = outstanding(state);
    for (const effect of this.outstanding) {
      if (this.asked.has(effect.id)) continue;
      this.asked.set(effect.id, effect);
      if (effect.type === "callLlm") this.brokenByPrompts ??= brokenByPrompt(this.#rules, effect, state);
    }
    const calls = this.outstanding.filter(isAnswering).length;
    const tools = this.outstanding.filter(({ type }) => type === "callTool" || type === "requestApproval").length;
    if (calls > 1 || (calls === 1 && tools > 0)) {
      this.world.breaks("M7", `${calls} model calls and ${tools} tool calls are outstanding at the same time`);
    }
  }

  /** Adds the usage of the calls that an entry ended. That of a stopped call is unknown, which is not zero. */
  #addUsage(before: readonly AnswerableEffect[], { event, ...entry }: Entry): void {
    const gone = before.filter(({ id, type }) => type === "callLlm" && !this.outstanding.some((out) => out.id === id));
    for (const { id } of gone) {
      const isOutcome = (event.type === "llm.completed" || event.type === "llm.failed") && event.effectId === id;
      const cost = ("decided" in entry ? entry.decided?.cost : undefined) ?? null;
      const call = isOutcome ? usageOfCall(event.usage ?? null, cost) : usageOfCall(null, null);
      this.usage = usageMonoid.concat(this.usage, call);
    }
  }

  #count(transition: string): void {
    this.transitions.set(transition, (this.transitions.get(transition) ?? 0) + 1);
  }
}

/** Returns whether a process has kept the thread from now on, without a pause; null if it does not have it. */
export const undisturbed = (
  process: SimulatedProcess,
  { newestToken }: Pick<WatchedJournal, "newestToken">,
): (() => boolean) | null => {
  const { opening, pauses } = process;
  // A late process may not know that another has taken the thread.
  if (opening === null || process.paused || opening.token !== newestToken) return null;
  return () => process.alive && process.opening === opening && !opening.over && process.pauses === pauses;
};

const isAnswering = (effect: AnswerableEffect): effect is CallLlm =>
  effect.type === "callLlm" && effect.purpose === "answer";

const about = (entry: Entry): string => {
  const { event } = entry;
  const what = "effectId" in event ? ` ${event.effectId}` : "askId" in event ? ` ${event.askId ?? ""}` : "";
  const decided = "decided" in entry ? (entry.decided ?? {}) : {};
  const marks = [
    ...("recovered" in entry ? ["recovered"] : []),
    ...(["summary", "summaryFailed", "summaryStale", "compacting", "unfit"] as const).filter((name) => name in decided),
  ];
  return marks.length === 0 ? what : `${what} (${marks.join(", ")})`;
};
