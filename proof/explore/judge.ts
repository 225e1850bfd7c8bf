import { type AskResult, TurnCancelledError } from "@colloquy/host";
import { type Entry } from "@colloquy/machine";
import { describeDifference, replay } from "@colloquy/machine/inspect";
import { LawBroken, lawApproved, lawRecovery, lawSharedThread } from "@colloquy/runtime-test/laws";
import * as Either from "fp-ts/lib/Either.js";

import { entriesIn } from "../kit/journal.ts";
import { wordsOf } from "../kit/report.ts";
import type { Run } from "./run.ts";
import { declarations, machine } from "./scene.ts";
import { threadId } from "./shelf.ts";
import type { User } from "./user.ts";

/** Judges a run that has ended, by the laws of recovery, of shared threads and of approvals. Returns what is broken. */
export const judge = async (run: Run, uncrashed: readonly Entry[] | null): Promise<string | null> => {
  const stored = await run.shelf.store.read(threadId);
  try {
    const entries = entriesIn(stored);
    const { user, shelf } = run;
    const ran = shelf.log.flatMap((item) => (item.did === "ran" ? [item.key] : []));
    const answered = user.questions.flatMap(({ askId, end }) =>
      isResult(end) ? [{ askId, turn: end.turn, text: end.text }] : [],
    );
    const others = user.questions.filter(({ end }) => !isResult(end)).map(({ askId }) => askId);
    const asked = answered.map(({ askId }) => askId);
    lawSharedThread({ asked, unanswered: others, answered, stored, ran, tools: declarations });
    lawApproved(shelf.log, declarations);
    // Where the schedule changed more than a crash does, the journal is its own measure: its recovered entries are
    // those of the table, and no call ran too often.
    if (uncrashed !== null || entries.some((entry) => "recovered" in entry))
      lawRecovery({ uncrashed: uncrashed ?? entries, resumed: entries, tools: declarations, ran });
    const replayed = replay(machine, entries);
    if (Either.isLeft(replayed)) return `R5: ${describeDifference(replayed.left)}`;
    return cancelledFor(user) ?? receiptsOf(user, entries);
  } catch (error) {
    if (error instanceof LawBroken) return error.message;
    return wordsOf(error);
  }
};

const isResult = (end: unknown): end is AskResult =>
  typeof end === "object" && end !== null && "status" in end && !(end instanceof Error);

/** An ask is cancelled only where the user did that. */
const cancelledFor = ({ questions, sendings }: User): string | null => {
  const cancelled = questions.find(({ end }) => end instanceof TurnCancelledError);
  if (cancelled === undefined || sendings.some(({ event }) => event.type === "cancel.requested")) return null;
  return `R3: ${cancelled.askId} was cancelled, and nobody did that`;
};

/** The sender of an event was told whether it was accepted. */
const receiptsOf = ({ sendings }: User, entries: readonly Entry[]): string | null => {
  for (const { event, receipt, tries } of sendings) {
    if (receipt === null || receipt === "unknown" || tries > 1) continue;
    const isThere = entries.some((entry) => JSON.stringify(entry.event) === JSON.stringify(event));
    if (isThere !== receipt.handled)
      return `R3: ${event.type} ${isThere ? "is in the journal, and its sender was refused" : "is not in the journal, and its sender was told that it was taken"}: ${JSON.stringify(receipt)}`;
  }
  return null;
};
