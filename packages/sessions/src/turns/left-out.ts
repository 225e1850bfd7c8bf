/** A turn or a model call without an example, or an example without a row. */
export interface LeftOut {
  /** The id of its thread, or the name of its journal. */
  readonly thread: string;
  readonly turn: number;
  /** The number of the step in its turn, from 1. */
  readonly step: number;
  readonly because: LeftOutBecause;
  /** The score of its turn; null if there is none. */
  readonly score: number | null;
}

/**
 * The reason for leaving it out:
 *
 * - `open`: its turn has not ended. `failed`, `cancelled`: its turn failed or was cancelled.
 * - `interrupted`: the reply ended early. `truncated`: a limit or a filter cut it off, or it was shortened afterwards.
 * - `synthesised`: the machine made the reply, or a part of its turn's prompt. `recovered`: a crash lost something in
 * its turn.
 * - `refused`: the reply was not the requested output. `redacted`: content was redacted.
 * - `unrecorded`: the sent prompt differs from the journal.
 * - `copied`: the thread from which it was forked, or another fork, contains it (or has redacted it).
 * - `undone`: its turn is off the path.
 * - `unscored`: it has no score, but one is required. `belowScore`: its score is too low. `behindBadTurn`: it follows
 * an unscored or low-scored turn, and the whole trajectory must be good.
 * - `untrained`: it was imported with the mark not to train it. `empty`: a message that needs content is empty.
 * - `continues`: the prompt ends with an assistant message, which templates join with the reply.
 * - `content`: the format does not support one of its parts.
 */
export type LeftOutBecause =
  | "open"
  | "failed"
  | "cancelled"
  | "interrupted"
  | "truncated"
  | "synthesised"
  | "recovered"
  | "refused"
  | "redacted"
  | "unrecorded"
  | "copied"
  | "undone"
  | "unscored"
  | "belowScore"
  | "behindBadTurn"
  | "untrained"
  | "empty"
  | "continues"
  | "content";

/** Returns why a score is not enough; null if it is, or none is required. */
export const reasonOfScore = (score: number | null, least: number | undefined): "unscored" | "belowScore" | null => {
  if (least === undefined) return null;
  return score === null ? "unscored" : score < least ? "belowScore" : null;
};
