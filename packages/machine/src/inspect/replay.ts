import * as Either from "fp-ts/lib/Either.js";
import type { Event, OfferedTool, ThreadInput } from "../conversation/protocol/event.ts";
import { type Decided, type Entry, type FirstEntry, isLater, type LaterEntry } from "../conversation/protocol/entry.ts";
import type { CallLlm } from "../conversation/protocol/effect.ts";
import { isSameEffect } from "../conversation/protocol/effect-id.ts";
import { type ConversationMachine, internals } from "../conversation/machine.ts";
import { offeredWith } from "../conversation/update/turn-opening.ts";
import { outstanding } from "../conversation/read/outstanding.ts";
import type { State } from "../conversation/protocol/data.ts";
import { start, transition } from "../conversation/transition.ts";
import type { SystemDraft } from "../thread/message.ts";
import { fold, foldEntry } from "../journal/fold.ts";
import { decisionDifference, withoutCuts, withoutWords } from "./decision-difference.ts";
import { changedMessages, changedTools, describeChanges, type PromptChange } from "./prompt-difference.ts";

/** The first place where a machine decides differently from a journal. */
export interface Difference {
  /** The entry. */
  readonly seq: number;
  /** The turn and the step at that time; 0 outside any. */
  readonly turn: number;
  readonly step: number;
  readonly what: string;
  /** The journal's value. Empty for a journal that cannot be read. */
  readonly expected: string;
  readonly got: string;
  /**
   * The messages and tools of a prompt that differ, with their words. Empty if the journal does not contain those that
   * were sent.
   */
  readonly changes: readonly PromptChange[];
}

export interface ReplayOptions {
  /**
   * Replaces the system prompt that the thread began with; null for none. The journal is unchanged, so that a
   * difference can name the words of both.
   */
  readonly system?: SystemDraft | null;
}

/**
 * Applies the events of a journal to a machine, which decides again. Returns the state at the end, or the first
 * difference: a refused event, another decision, or another prompt than was sent. So it tells, before a token is
 * spent, at which step a changed policy or system prompt would have sent something else.
 *
 * Redacted content cannot be decided again as it was. From the first redacted entry on, prompts and decisions that
 * count words are not compared. Other decisions are, each time from the recorded state.
 *
 * The tools that a call offers are part of the prompt: a tool that was added, removed or declared differently is a
 * difference.
 */
export const replay = (
  machine: ConversationMachine,
  entries: readonly Entry[],
  options: ReplayOptions = {},
): Either.Either<Difference, State> => {
  const folded = fold(entries);
  const first = entries[0];
  if (Either.isLeft(folded)) return Either.left(unreadable(folded.left.seq, folded.left.reason));
  if (first?.event.type !== "thread.started") return Either.left(unreadable(0, "it has no beginning"));
  let state = start(machine, begunWith(first.event, options)).state;
  const begun = fold([first]);
  if (Either.isLeft(begun)) return Either.left(unreadable(begun.left.seq, begun.left.reason));
  let recorded = begun.right;
  let isWhole = first.redacted === undefined;
  for (const entry of entries.slice(1)) {
    if (!isLater(entry)) return Either.left(unreadable(entry.seq, "a second beginning"));
    isWhole &&= entry.redacted === undefined;
    const sent = isWhole ? sentOtherwise(state, entry) : null;
    if (sent !== null) return Either.left(sent);
    const step = transition(machine, state, isWhole ? entry.event : withoutDigest(entry.event));
    if (!step.handled)
      return Either.left(
        differs(state, entry.seq, `"${entry.event.type}"`, "taken", `it is refused: ${step.refusal.reason}`),
      );
    const before = state;
    recorded = foldEntry(recorded, entry);
    const during = before.context.open === null ? recorded : before;
    state = isWhole ? step.state : recorded;
    const { decided = {} } = step.entry;
    const difference = isWhole
      ? // A call that is not made is a consequence of an earlier decision, so decisions are compared first.
        (decidesOtherwise(during, entry, decided, withoutCuts) ??
        asksOtherwise(machine, recorded, state, during, entry.seq))
      : decidesOtherwise(during, entry, decided, withoutWords);
    if (difference !== null) return Either.left(difference);
  }
  return Either.right(state);
};

/** Formats a difference as one sentence. */
export const describeDifference = ({ seq, turn, step, what, expected, got, changes }: Difference): string =>
  `entry ${seq}${turn === 0 ? "" : ` (turn ${turn}, step ${step})`}: ${what}: ${expected === "" ? "" : `was ${expected}; today `}${got}` +
  (changes.length === 0 ? "" : ` (${describeChanges(changes)})`);

const begunWith = ({ type: _, ...input }: FirstEntry["event"], { system }: ReplayOptions): ThreadInput => {
  if (system === undefined) return input;
  const { system: __, ...without } = input;
  return system === null ? without : { ...without, system };
};

/** Compares the prompt with the digest that the outcome echoes, which identifies the sent prompt. */
const sentOtherwise = (state: State, { seq, event }: LaterEntry): Difference | null => {
  if (event.type !== "llm.completed" && event.type !== "llm.failed") return null;
  const call = callsOf(state).find(({ id }) => isSameEffect(id, event.effectId));
  const sent = event.promptDigest;
  if (sent === undefined || call === undefined || call.promptDigest === sent) return null;
  // Both states ask for the same calls here, so the journal does not have the words that were sent.
  const expected = `digest ${sent}, that of what was sent: its words are not in this journal`;
  return differs(state, seq, "the prompt", expected, inWords(call));
};

/** Removes the digest of an approval, because a redaction may have removed the words that it was computed from. */
const withoutDigest = (event: Event): Event => {
  if (event.type !== "approval.answered") return event;
  const { digest: _, ...answer } = event;
  return answer;
};

const asksOtherwise = (
  machine: ConversationMachine,
  recorded: State,
  state: State,
  during: State,
  seq: number,
): Difference | null => {
  const [expected, got] = [callsOf(recorded), callsOf(state)];
  for (const purpose of ["answer", "summary"] as const) {
    const before = expected.find((call) => call.purpose === purpose);
    const now = got.find((call) => call.purpose === purpose);
    if (before?.id === now?.id && before?.promptDigest === now?.promptDigest) continue;
    const what = purpose === "answer" ? "the prompt" : "the prompt of a summary";
    const changes = before === undefined || now === undefined ? [] : changedMessages(before.messages, now.messages);
    return { ...differs(during, seq, what, inWords(before), inWords(now)), changes };
  }
  const call = expected.find(({ purpose }) => purpose === "answer");
  return call === undefined ? null : offersOtherwise(machine, call, state, during, seq);
};

/** Compares the offered tools: those of the machine and the asks with those of the recorded configuration. */
const offersOtherwise = (
  machine: ConversationMachine,
  { tools }: CallLlm,
  state: State,
  during: State,
  seq: number,
): Difference | null => {
  const offered = offeredWith(machine[internals].settings.offered, state.context.open ?? {});
  const changes = tools === undefined ? [] : changedTools(tools, offered);
  return changes.length === 0
    ? null
    : { ...differs(during, seq, "the tools that are offered", namesOf(tools ?? []), namesOf(offered)), changes };
};

const namesOf = (tools: readonly OfferedTool[]): string => tools.map(({ name }) => name).join(", ") || "none";

/** Compares decisions. Cuts are compared by their prompts: two policies that show the same do not differ. */
const decidesOtherwise = (
  during: State,
  entry: LaterEntry,
  got: Decided,
  compared: (decided: Decided) => Decided,
): Difference | null => {
  const difference = decisionDifference(entry, compared(entry.decided ?? {}), compared(got));
  return difference === null ? null : differs(during, entry.seq, difference.what, difference.expected, difference.got);
};

/** Returns the outstanding model calls. Only those are compared, so a round of tool calls needs no rendering. */
const callsOf = (state: State): readonly CallLlm[] => {
  const { open, summarising } = state.context;
  if (open?.stage.type !== "responding" && summarising === null) return [];
  return outstanding(state).filter((effect) => effect.type === "callLlm");
};

const inWords = (call: CallLlm | undefined): string =>
  call === undefined ? "no model call" : `${call.messages.length} messages`;

const differs = (state: State, seq: number, what: string, expected: string, got: string): Difference => {
  const { open } = state.context;
  return { seq, turn: open?.number ?? 0, step: open?.step ?? 0, what, expected, got, changes: [] };
};

const unreadable = (seq: number, reason: string): Difference => ({
  seq,
  turn: 0,
  step: 0,
  what: "the journal",
  expected: "",
  got: reason,
  changes: [],
});
