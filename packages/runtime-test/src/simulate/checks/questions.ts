import type { TurnSummary } from "@colloquy/host";
import { type CallLlm, messagesOf, type State, toArray, turnNumbered } from "@colloquy/machine";
import type { Cut } from "@colloquy/machine/policies";
import { redactedText } from "@colloquy/machine/storage";
import { asksIn } from "../../laws/evidence/asks-in.ts";
import { draftsOfAsk, ofDraft, utteranceOf } from "../../laws/evidence/utterance.ts";
import { type AskEnd, type Question, SimulatedOutput } from "../script/question.ts";
import type { WatchedJournal } from "./watched-journal.ts";
import type { World } from "../world/world.ts";

/**
 * Checks R3: each ask is in the thread once, as in the result of its asker, in a turn that has its content. A refused
 * ask is not in the thread, unless it was posted as an inbox item: another process may accept it after the one that
 * posted it had its answer, and died.
 */
export const checkQuestions = (
  world: World,
  { state }: Pick<WatchedJournal, "state">,
  questions: readonly Question[],
): void => {
  if (state === null) return;
  const inTurns = asksIn(state).filter(({ place }) => place === "turn");
  const turns = new Map(inTurns.map(({ askId, turn }) => [askId, turn]));
  for (const question of questions) {
    const { askId, end, mayBeInboxItem } = question;
    if (end === null) {
      world.breaks("settles", `${askId} never came to an end`);
      continue;
    }
    checkOutput(world, question, end);
    const dropped = droppedAs(end);
    const report = dropped === null ? reportOf(end) : null;
    if (dropped !== null) checkDropped(world, state, askId, dropped);
    else if (report !== null) {
      checkReport(world, state, askId, turns.get(askId) ?? null, report);
      checkSaid(world, state, question, report.turn);
    } else if (turns.has(askId) && !mayBeInboxItem && !isAskedTwice(questions, askId)) {
      world.breaks("R3", `${askId} was refused, and turn ${turns.get(askId)} answers it`);
    }
  }
};

/** Checks R3: each accepted ask is in one place: waiting, in a turn, or dropped. */
export const checkAsks = (world: World, { state, entries }: Pick<WatchedJournal, "state" | "entries">): void => {
  const places = asksIn(state).map(({ askId }) => askId);
  for (const { event } of entries) {
    if (event.type !== "ask.received") continue;
    const found = places.filter((askId) => askId === event.askId).length;
    if (found !== 1) world.breaks("R3", `${event.askId} was taken, and stands in ${found} places`);
  }
};

/** Checks M13: an asker that wants an output gets one that its own schema validated, and no other asker gets any. */
const checkOutput = (world: World, { askId, output }: Question, end: AskEnd): void => {
  if (end instanceof Error) return;
  const given: unknown = "output" in end ? end.output : null;
  const isRight = output === undefined ? given === null : given instanceof SimulatedOutput && given.even % 2 === 0;
  if (!isRight) world.breaks("M13", `${askId} was given the output ${JSON.stringify(given)}, which nobody validated`);
};

/** Returns why no turn answers, by the result of the asker; null for any other result. */
const droppedAs = (end: AskEnd): "superseded" | "returned" | null => {
  if (!("name" in end)) return null;
  if (end.name === "AskSupersededError") return "superseded";
  return end.name === "AskReturnedError" ? "returned" : null;
};

const checkDropped = (world: World, { context }: State, askId: string, because: string): void => {
  const is = context.dropped.find((ask) => ask.askId === askId)?.because ?? "none of those";
  if (is !== because) world.breaks("R3", `${askId} was reported as ${because}, and is ${is}`);
};

/** Checks M9 when nothing is left out: the next prompt is the path so far and the new message. */
export const checkContinuation = (world: World, before: State, after: State, call: CallLlm): void => {
  const { cut } = after.context;
  if (cut === null || cut.interrupted === "omit" || !(cut.policy.startsWith("keep-all@") || isWhole(cut))) return;
  const path = messagesOf(before).map(({ id }) => id);
  const sent = call.messages.filter(({ id }) => id !== before.context.conversation.system?.id).map(({ id }) => id);
  if (sent.length === path.length + 1 && path.every((id, index) => sent[index] === id)) return;
  world.breaks("M9", `what was said is ${path.join(", ")}; the next prompt was ${sent.join(", ")}`);
};

const isWhole = ({ from, dropped }: Cut): boolean => from === null && dropped === undefined;

/** The result of an asker that names a turn; null when the ask was refused. */
interface Report extends Pick<TurnSummary, "turn" | "text"> {
  readonly status: "completed" | "failed" | "cancelled";
}

const reportOf = (end: AskEnd): Report | null => {
  if ("status" in end) return end;
  if ("refusal" in end || end.name === "ThreadUnknownError") return null;
  // The host that checked the answer had a less strict schema than the ask: the turn is complete, although the output
  // is invalid.
  if (end.name === "OutputError" && "status" in end.summary) return { ...end.summary, status: "completed" };
  return { ...end.summary, status: end.name === "TurnCancelledError" ? "cancelled" : "failed" };
};

/** Checks the turn and status of a result. An asker that gave up early has none of a turn. */
const checkReport = (world: World, state: State, askId: string, turn: number | null, report: Report): void => {
  if (report.turn === null) return;
  if (report.turn !== turn) {
    world.breaks("R3", `${askId} was answered by turn ${report.turn}, and the thread has it in ${turn ?? "none"}`);
  }
  const status = turnNumbered(state, report.turn)?.outcome.status;
  if (status !== report.status) {
    world.breaks(
      "R3",
      `${askId} has the result that turn ${report.turn} is ${report.status}, and it is ${status ?? "lost"}`,
    );
  }
};

/** Checks that an asker's outcome is that of its own question: the turn contains it, unless its words were redacted. */
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
    world.breaks("R3", `${askId} has the result of turn ${turn}, which does not say what was asked: ${missing}`);
};

const isAskedTwice = (questions: readonly Question[], askId: string): boolean =>
  questions.filter((question) => question.askId === askId).length > 1;
