import type { AskPart } from "@colloquy/host";
import { type Message, messagesOf, type State, textOf, toArray, toolResultOf, turnNumbered } from "@colloquy/machine";

/** A part that an asker in a tab was shown. */
export interface Shown {
  readonly tab: number;
  readonly askId: string;
  readonly part: AskPart;
}

/** Returns how the parts of turns that ended well differ from the journal. */
export const partProblems = (shown: readonly Shown[], state: State): readonly string[] => {
  const handles = Map.groupBy(shown, ({ tab, askId }) => `${askId} in tab ${tab}`);
  return [...handles].flatMap(([name, parts]) =>
    problemsOf(
      parts.map(({ part }) => part),
      state,
    ).map((problem) => `what was shown of ${name}: ${problem}`),
  );
};

const problemsOf = (parts: readonly AskPart[], state: State): readonly string[] => {
  const end = parts.at(-1);
  // The tab ended before the turn did, or there was no turn.
  if (end?.type !== "turn.ended" || end.status !== "completed") return [];
  const turn = turnNumbered(state, end.turn);
  const messages = turn === undefined ? [] : toArray(turn.messages);
  return [...textProblems(textsIn(parts), messages), ...resultProblems(parts, messagesOf(state))];
};

/** The text that was shown of each step, as far as it is not void. */
const textsIn = (parts: readonly AskPart[]): ReadonlyMap<number, string> => {
  const texts = new Map<number, string>();
  for (const part of parts) {
    if (part.type === "step.started") texts.delete(part.step);
    if (part.type === "thread.lost" || (part.type === "signal" && part.signal.type === "retry.scheduled"))
      texts.delete(Math.max(...texts.keys()));
    if (part.type === "replay.started") for (const step of texts.keys()) if (step >= part.step) texts.delete(step);
    if (part.type === "text.delta") texts.set(part.step, (texts.get(part.step) ?? "") + part.text);
  }
  return texts;
};

const textProblems = (texts: ReadonlyMap<number, string>, messages: readonly Message[]): readonly string[] => {
  const said = messages.filter(({ role }) => role === "assistant").map((message) => textOf(message));
  return [...texts].flatMap(([step, text]) =>
    // Who comes later may be shown its end alone.
    said.some((each) => each.includes(text))
      ? []
      : [`step ${step} said ${JSON.stringify(text)}, which is not journalled`],
  );
};

const resultProblems = (parts: readonly AskPart[], messages: readonly Message[]): readonly string[] =>
  parts.flatMap((part) => {
    if (part.type !== "toolResult") return [];
    const result = messages.map((message) => toolResultOf(message)).find((each) => each?.callId === part.callId);
    return result?.outcome === part.outcome
      ? []
      : [`${part.callId} is ${part.outcome}, and journalled as ${result?.outcome ?? "nothing"}`];
  });
