import type { TurnSummary } from "@colloquy/host";
import { type CallLlm, messagesOf, type State, toArray, turnNumbered } from "@colloquy/machine";
import type { Cut } from "@colloquy/machine/policies";
import { redactedText } from "@colloquy/machine/storage";
import { asksIn } from "../../laws/evidence/asks-in.ts";
import { draftsOfAsk, ofDraft, utteranceOf } from "../../laws/evidence/utterance.ts";
import type { AskEnd, Question } from "../script/question.ts";
import type { WatchedJournal } from "./watched-journal.ts";
import type { World } from "../world/world.ts";

/**
 * R3: each ask stands in the thread once, as its asker was told, in a turn that says what was asked; one that was refused does not stand there, but where it
 * was left as a letter: that may be taken by another process after who left it was told, and died.
 */
export const checkQuestions = (
  world: World,
  { state }: Pick<WatchedJournal, "state">,
  questions: readonly Question[],
): void => {
  if (state === null) return;
  const turns = turnsOfAsks(world, state);
  for (const question of questions) {
    const { askId, end, mayBeLetter } = question;
    if (end === null) {
      world.breaks("settles", `${askId} never came to an end`);
      continue;
    }
    const dropped = droppedAs(end);
    const told = dropped === null ? toldOf(end) : null;
    if (dropped !== null) checkDropped(world, state, askId, dropped);
    else if (told !== null) {
      checkTold(world, state, askId, turns.get(askId) ?? null, told);
      checkSaid(world, state, question, told.turn);
    } else if (turns.has(askId) && !mayBeLetter && !isAskedTwice(questions, askId)) {
      world.breaks("R3", `${askId} was refused, and turn ${turns.get(askId)} answers it`);
    }
  }
};

/** R3: each ask that was taken stands in one place: among those that wait, in a turn, or with those that no turn answers. */
export const checkAsks = (world: World, { state, entries }: Pick<WatchedJournal, "state" | "entries">): void => {
  const places = asksIn(state).map(({ askId }) => askId);
  for (const { event } of entries) {
    if (event.type !== "ask.received") continue;
    const found = places.filter((askId) => askId === event.askId).length;
    if (found !== 1) world.breaks("R3", `${event.askId} was taken, and stands in ${found} places`);
  }
};

/** Why an asker was told that no turn answers; null for one who was told anything else. */
const droppedAs = (end: AskEnd): "superseded" | "returned" | null => {
  if (!("name" in end)) return null;
  if (end.name === "AskSupersededError") return "superseded";
  return end.name === "AskReturnedError" ? "returned" : null;
};

const checkDropped = (world: World, { context }: State, askId: string, because: string): void => {
  const is = context.dropped.find((ask) => ask.askId === askId)?.because ?? "none of those";
  if (is !== because) world.breaks("R3", `${askId} was told that it was ${because}, and is ${is}`);
};

/** M9, where nothing is left out: the next prompt is the path so far and the new message. */
export const checkContinuation = (world: World, before: State, after: State, call: CallLlm): void => {
  const { cut } = after.context;
  if (cut === null || cut.interrupted === "omit" || !(cut.policy.startsWith("keep-all@") || isWhole(cut))) return;
  const path = messagesOf(before).map(({ id }) => id);
  const sent = call.messages.filter(({ id }) => id !== before.context.conversation.system?.id).map(({ id }) => id);
  if (sent.length === path.length + 1 && path.every((id, index) => sent[index] === id)) return;
  world.breaks("M9", `what was said is ${path.join(", ")}; the next prompt was ${sent.join(", ")}`);
};

const isWhole = ({ from, dropped }: Cut): boolean => from === null && dropped === undefined;

const turnsOfAsks = (world: World, state: State): ReadonlyMap<string, number> => {
  const turns = new Map<string, number>();
  for (let number = 1; number <= state.context.conversation.turns.length; number++) {
    for (const { askId } of turnNumbered(state, number)?.asks ?? []) {
      if (turns.has(askId)) {
        world.breaks("R3", `${askId} is answered by turn ${turns.get(askId)} and by turn ${number}`);
      }
      turns.set(askId, number);
    }
  }
  return turns;
};

/** What an asker was told of a turn; null when the ask was refused. */
interface Told extends Pick<TurnSummary, "turn" | "text"> {
  readonly status: "completed" | "failed" | "cancelled";
}

const toldOf = (end: AskEnd): Told | null => {
  if ("status" in end) return end;
  if ("refusal" in end) return null;
  return { ...end.summary, status: end.name === "TurnCancelledError" ? "cancelled" : "failed" };
};

/** Who gave up before anything was known was told of no turn, and there may be one all the same. */
const checkTold = (world: World, state: State, askId: string, turn: number | null, told: Told): void => {
  if (told.turn === null) return;
  if (told.turn !== turn) {
    world.breaks("R3", `${askId} was answered by turn ${told.turn}, and the thread has it in ${turn ?? "none"}`);
  }
  const status = turnNumbered(state, told.turn)?.outcome.status;
  if (status !== told.status) {
    world.breaks("R3", `${askId} was told that turn ${told.turn} is ${told.status}, and it is ${status ?? "lost"}`);
  }
};

/** Whoever has the outcome of a turn has that of what they asked: the turn says it, unless its words were taken out. */
const checkSaid = (world: World, state: State, { askId, input }: Question, turn: number | null): void => {
  const messages = toArray(
    (turn === null ? undefined : turnNumbered(state, turn))?.messages ?? { length: 0, levels: [] },
  );
  const said = messages.map(utteranceOf);
  if (said.some((utterance) => utterance.includes(redactedText))) return;
  const missing = draftsOfAsk({ askId, at: 0, input })
    .map(ofDraft)
    .find((utterance) => !said.includes(utterance));
  if (turn !== null && missing !== undefined)
    world.breaks("R3", `${askId} was told of turn ${turn}, which does not say what was asked: ${missing}`);
};

const isAskedTwice = (questions: readonly Question[], askId: string): boolean =>
  questions.filter((question) => question.askId === askId).length > 1;
