import * as Either from "fp-ts/lib/Either.js";
import { approvedCall, problemOfToolEvent } from "../conversation/decide/tool-call.ts";
import { refusalOfAsk } from "../conversation/decide/decide.ts";
import { decideUnconfigured } from "../conversation/decide/unconfigured.ts";
import type { ConversationData, State } from "../conversation/protocol/data.ts";
import { callsOf, isAwaited, placeIn, positionNamedBy } from "../conversation/protocol/effect-id.ts";
import { type Decided, type Entry, type FirstEntry, isLater, type LaterEntry } from "../conversation/protocol/entry.ts";
import type { Event } from "../conversation/protocol/event.ts";
import { problemOfCalls } from "../conversation/update/turn-opening.ts";
import { outstanding } from "../conversation/read/outstanding.ts";
import { problemOfRange, unknownPlaceIn } from "../prompt/decide-cut.ts";
import { toArray } from "../thread/chunks.ts";
import { foldVisiting, type JournalError } from "./fold.ts";

/**
 * Finds the first entry of a journal from outside that the machine would not have accepted under any configuration.
 * There are three kinds of such entries:
 *
 * - `fold` would skip it: an answer that was not awaited or an ask without a decision.
 * - The machine refuses it: a move to a turn that does not exist, or a second ask of one id.
 * - Its prompt shows turns that do not exist.
 *
 * Returns null if there is none, as in every journal that a machine wrote. For an invalid journal it returns the place
 * of the first error.
 */
export const lostEventIn = (entries: readonly Entry[]): JournalError | null => {
  const [first] = entries;
  let lost = first === undefined || isLater(first) ? null : problemOfFirst(first);
  let isWhole = first?.redacted === undefined;
  const folded = foldVisiting(entries, (entry, before, after) => {
    isWhole &&= entry.redacted === undefined;
    const reason = lost === null ? problemOf(entry, before, after, isWhole) : null;
    if (reason !== null) lost = { seq: entry.seq, reason };
  });
  return lost ?? (Either.isLeft(folded) ? folded.left : null);
};

const problemOfFirst = ({ event: { seed = [] } }: FirstEntry): JournalError | null => {
  const reason = problemOfCalls(seed, true);
  return reason === null ? null : { seq: 0, reason: `the seed is no conversation: ${reason}` };
};

const problemOf = (
  { event, decided = {} }: LaterEntry,
  before: State,
  after: State,
  isWhole: boolean,
): string | null => {
  const data = before.context;
  if (!isAwaited(data, event) && "effectId" in event) {
    const awaited = outstanding(before).map(({ id }) => `"${id}"`);
    return `"${event.type}" answers "${event.effectId}", which was not awaited; outstanding was ${awaited.join(", ") || "nothing"}`;
  }
  const refused = reasonToRefuse(data, event, isWhole);
  if (refused !== null) return notTaken(event, refused);
  if (event.type === "ask.received" && data.open !== null) {
    const { queued, joins, interrupts } = decided;
    if (queued === undefined && joins !== true && interrupts !== true)
      return `"ask.received" (ask "${event.askId}") came while another was answered, and nothing was decided about it`;
  }
  const misplaced = unknownTurnIn(decided, data, after.context);
  return misplaced === null ? null : notTaken(event, misplaced);
};

/** Adds advice: such an entry was changed or moved. */
const notTaken = ({ type }: Event, reason: string): string =>
  `"${type}" is refused here: ${reason}. The machine takes no such entry: export the journal again, or import the entries before this one`;

/**
 * Returns why the machine would refuse an event under any configuration, or null. After a redaction, the only sure
 * fact about answers is that they are awaited, which was checked before.
 */
const reasonToRefuse = (data: ConversationData, event: Event, isWhole: boolean): string | null => {
  switch (event.type) {
    case "ask.received":
      return refusalOfAsk(data, event)?.reason ?? null;
    case "tool.started":
    case "tool.withheld":
    case "tool.completed":
    case "tool.failed": {
      const call = callsOf(data)[positionNamedBy(event.effectId)];
      return call === undefined ? null : problemOfToolEvent(call, event);
    }
    case "approval.answered":
      return isWhole ? reasonIn(approvedCall(data, callsOf(data), ofThread(event, data.threadId))) : null;
    case "llm.completed":
    case "llm.failed":
    case "llm.progressed":
    case "output.accepted":
    case "output.refused":
    case "timer.fired":
      return null;
    // A copy may begin after an entry that closed one turn and opened the next.
    case "thread.forked":
      return null;
    default:
      return reasonIn(decideUnconfigured(data, event));
  }
};

const reasonIn = (decided: Either.Either<{ readonly reason: string }, unknown>): string | null =>
  Either.isLeft(decided) ? decided.left.reason : null;

/** Rewrites an answer's id for this thread, because a journal may be copied to another thread id. */
const ofThread = <Answer extends { readonly effectId: string }>(answer: Answer, threadId: string): Answer => ({
  ...answer,
  effectId: `${threadId}/${placeIn(answer.effectId)}`,
});

/** Returns an error if a cut or a summary names a turn that the thread does not have. */
const unknownTurnIn = (
  { cut, summary }: Decided,
  before: ConversationData,
  { conversation: thread, open }: ConversationData,
): string | null => {
  const ranges = [cut?.summarised, summary?.covers].map((range) =>
    range === undefined ? null : problemOfRange(range, thread),
  );
  const range = ranges.find((problem) => problem !== null);
  if (range !== undefined && range !== null) return range;
  if (cut === undefined) return null;
  // Unknown dropped ids are ignored.
  const { dropped: _, ...shown } = cut;
  const said = () => (open === null ? [] : toArray(open.messages));
  return unknownPlaceIn({ ...shown, reason: "" }, { thread, system: thread.system, open: said, lastCut: before.cut });
};
