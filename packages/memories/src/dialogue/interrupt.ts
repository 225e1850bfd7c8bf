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

/** The place at which the answer of a turn was interrupted. */
export interface InterruptedAt extends SpokenTo {
  /** The number of the turn. Default: the open turn, otherwise the one at the head. */
  readonly turn?: number;
}

/** The result of an interruption. */
export interface Interrupted {
  readonly turn: number;
  /** The part that the thread keeps, and that later prompts show. */
  readonly spoken: string;
  /** The shown part beyond that. The journal still has it. */
  readonly unspoken: string;
}

/**
 * Truncates the answer of a turn to its spoken part, after an interruption. An open turn is cancelled first, and the
 * shown part of its answer is truncated. The turn gets the annotation `interrupted`, with the place, and the message
 * gets the mark `truncated`, with its original length. Repeating the call changes nothing.
 *
 * @throws ConfigurationError for an invalid place, before anything happens.
 * @throws EventRefusedError (`unknown`, `invalid`) if there is no such turn, or it has no answer; `busy` if another
 * turn is open by then, which is left alone. Repeat the call when that turn has ended.
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

/** Cancels a turn by its asks, because it may have just ended, and another turn may be open now. */
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
  if (state === null) throw refused(thread, "unknown", "it has no turns; ask first");
  return state;
};

const refused = ({ id }: HostedThread, kind: "unknown" | "invalid", reason: string): EventRefusedError =>
  new EventRefusedError(id, { kind, reason });
