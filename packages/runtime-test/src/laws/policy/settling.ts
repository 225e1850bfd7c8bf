import { digestOfPrompt, type Message, type Prompt } from "@colloquy/machine";
import { handledSteps } from "../../arbitraries/trace.ts";
import { differenceOf, LawBroken } from "../evidence/law-broken.ts";
import { brokenAt, cutNamed, type Look, lookNamed, looksOf, placeOf, type PolicyLaw } from "./policy-run.ts";

/** Checks P5: deciding again, with the decision as the last cut, gives the same decision. */
export const decidesTheSameAgain: PolicyLaw = (run) => {
  for (const look of looksOf(run)) {
    const { machine, state, prompt } = look;
    const again = run.subject.promptOf(machine, { ...state, context: { ...state.context, cut: prompt.cut } });
    const difference = differenceOf(prompt.cut, again.cut);
    if (difference !== null || digestOfPrompt(again.messages) !== digestOfPrompt(prompt.messages))
      throw brokenAt("P5", look, ` decides otherwise when asked again: ${difference ?? "the prompt is another"}`);
  }
};

/**
 * Checks P6 for policies that are declared monotone: for the same history, more room shows everything that less room
 * shows, and nothing of it shorter. A turn that it shows as a summary is shown so or whole. A prompt that does not fit is
 * not sent, so it shows nothing.
 */
export const moreRoomShowsMore: PolicyLaw = ({ policy, views }) => {
  if (!policy.monotone) return;
  for (const { looks } of views) {
    for (const [index, larger] of looks.entries()) {
      const smaller = looks[index - 1];
      if (smaller === undefined) continue;
      const problem = lessIsShown(smaller.prompt, larger.prompt) ?? goneFrom(larger, smaller.prompt);
      if (problem === null) continue;
      const both = `${cutNamed(larger)}; before, ${cutNamed(smaller)}`;
      throw new LawBroken("P6", `${lookNamed(larger)} ${problem} ${lookNamed(smaller)}; ${both}`);
    }
  }
};

/** Describes what `smaller` shows and `larger` lacks or shortens; null if nothing. An unsent prompt shows nothing. */
export const lessIsShown = (smaller: Prompt, larger: Prompt): string | null => {
  if (!isSent(smaller) || !isSent(larger)) return null;
  const shown = new Map(larger.messages.map((message) => [message.id, message]));
  for (const message of smaller.messages) {
    if (message.synthesised === true) continue;
    const found = shown.get(message.id);
    if (found === undefined) return `does not show message ${message.id}, as does`;
    if (found !== message && lengthOf(found) < lengthOf(message)) return `shows message ${message.id} shorter than`;
  }
  return null;
};

/** Describes the turn that `smaller` shows as a summary and `larger` neither so nor whole; null if there is none. */
const goneFrom = ({ said: { closed }, prompt: larger }: Look, smaller: Prompt): string | null => {
  if (!isSent(smaller) || !isSent(larger)) return null;
  const isSummarised = (turn: number, { cut: { summarised } }: Prompt): boolean =>
    summarised !== undefined && turn >= summarised.from && turn <= summarised.to;
  const ids = new Set(larger.messages.map(({ id }) => id));
  const gone = closed.find(
    ({ turn, messages }) =>
      isSummarised(turn, smaller) && !isSummarised(turn, larger) && !messages.every(({ id }) => ids.has(id)),
  );
  return gone === undefined ? null : `neither shows nor summarises turn ${gone.turn}, as does`;
};

const lengthOf = ({ parts }: Message): number => JSON.stringify(parts).length;

/** Checks that the policy is never replaced, except if an ask is empty and nothing of the thread is shown. */
export const isNeverReplaced: PolicyLaw = (run) => {
  for (const { transition } of handledSteps(run.trace)) {
    const failed = transition.entry.decided?.policyFailed;
    if (failed !== undefined && !isOfSilence(failed))
      throw new LawBroken("usable", `entry ${transition.entry.seq}: ${failed}`);
  }
  for (const look of looksOf(run)) {
    const { failed } = look.prompt;
    if (failed !== undefined && !isOfSilence(failed)) throw new LawBroken("usable", `${placeOf(look)}: ${failed}`);
  }
};

const isOfSilence = (failed: string): boolean => failed.includes("shows nothing of the thread");

const isSent = ({ failed, fits }: Prompt): boolean => failed === undefined && fits;
