import { EventRefusedError, type HostedThread } from "@colloquy/host";
import {
  canonicalText,
  type Json,
  type OpenTurn,
  type State,
  textOf,
  toArray,
  type Turn,
  turnNumbered,
} from "@colloquy/machine";
import { charactersOf, checkPlace, spokenOf, type SpokenTo } from "./spoken.ts";

/** How far the answer of a turn was spoken. */
export interface InterruptedAt extends SpokenTo {
  /** The number of the turn. Default: the newest one in force, the open one too. */
  readonly turn?: number;
}

/** What became of an answer that was interrupted. */
export interface Interrupted {
  readonly turn: number;
  /** What the thread keeps of it, and later prompts show. */
  readonly spoken: string;
  /** What it had beyond that, as far as it was shown. The journal has it still. */
  readonly unspoken: string;
}

/**
 * Cuts the answer of a turn to what was spoken of it, since somebody has interrupted. A turn that is open is cancelled
 * first, and what had been shown of its answer is cut. The turn gets the annotation `interrupted`, with the place, and the
 * message the mark `truncated`, with the length that it had. The same call again changes nothing.
 *
 * @throws ConfigurationError for a place that is none, before anything happens.
 * @throws EventRefusedError (`unknown`, `invalid`) where there is no such turn, or it has no answer; `busy` where another turn
 * is open by then, which is left alone: the same call cuts the answer when that turn has ended.
 */
export const interrupt = async (thread: HostedThread, given: InterruptedAt): Promise<Interrupted> => {
  const place = { clause: given.clause, character: given.character };
  checkPlace(place);
  const { context } = await stateOf(thread);
  const { open } = context;
  const number = given.turn ?? open?.number ?? context.conversation.head;
  const wasOpen = open?.number === number;
  if (wasOpen) await cancel(thread, open);
  const turn = turnNumbered(await stateOf(thread), number);
  const answer = turn === undefined ? undefined : toArray(turn.messages).find(({ id }) => id === turn.answer);
  if (turn === undefined) throw refused(thread, "unknown", `there is no turn ${number}`);
  if (answer === undefined && !wasOpen) throw refused(thread, "invalid", `turn ${number} has no answer to interrupt`);
  const text = answer === undefined ? "" : textOf(answer);
  const spoken = spokenOf(text, place);
  if (spoken.length < text.length) await thread.truncate(number, charactersOf(spoken));
  if (!isMarked(turn, place)) await thread.annotate(number, mark, place);
  return { turn: number, spoken, unspoken: text.slice(spoken.length) };
};

const mark = "interrupted";

const isMarked = ({ annotations = [] }: Turn, place: Json): boolean =>
  annotations.some(({ name, value }) => name === mark && canonicalText(value) === canonicalText(place));

/** By its asks: it may have ended in this moment, and another turn be open in its place. */
const cancel = async (thread: HostedThread, { number, asks }: OpenTurn): Promise<void> => {
  for (const { askId } of asks) {
    try {
      await thread.cancel(mark, askId);
    } catch (thrown) {
      const { open } = (await stateOf(thread)).context;
      if (!(thrown instanceof EventRefusedError) || open?.number === number) throw thrown;
    }
  }
};

const stateOf = async (thread: HostedThread): Promise<State> => {
  const state = await thread.state();
  if (state === null) throw refused(thread, "unknown", "it has not begun");
  return state;
};

const refused = ({ id }: HostedThread, kind: "unknown" | "invalid", reason: string): EventRefusedError =>
  new EventRefusedError(id, { kind, reason });
