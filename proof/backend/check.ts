import { existsSync, readFileSync } from "node:fs";

import type { Store } from "@colloquy/host";
import { textOf, toArray, turnsOf } from "@colloquy/machine";

import { entriesIn, stateOf } from "../kit/journal.ts";
import { answerTo, type CallKind, orderOf, type ShopModel } from "./shop-model.ts";

/** A turn that was cut off, and how to find its traces. */
export interface CutTurn {
  readonly chat: string;
  /** The thing that only this turn orders. */
  readonly thing: string;
  /** The call in which it was cut off; null if it was cut off at any moment. */
  readonly during: CallKind | null;
}

interface Facts {
  readonly store: Store;
  readonly model: ShopModel;
  readonly orders: string;
}

export const continuationProblems = async (
  { chat, thing, during }: CutTurn,
  { store, model, orders }: Facts,
): Promise<readonly string[]> => {
  const question = orderOf(thing);
  const entries = entriesIn(await store.read(chat));
  const turns = turnsOf(stateOf(entries));
  const ofQuestion = turns.filter(({ messages }) =>
    toArray(messages).some((message) => message.role === "user" && textOf(message) === question),
  );
  const answers = ofQuestion.map(({ messages, answer, outcome }) => {
    const found = toArray(messages).find(({ id }) => id === answer);
    return `${outcome.status}: ${found === undefined ? "no answer" : textOf(found)}`;
  });
  const [asks, finals] = [model.count(question, "ask"), model.count(question, "answer")];
  const ordered = timesOrdered(orders, thing);
  const isUnknown = entries.some((entry) => "recovered" in entry && entry.event.type.startsWith("tool."));
  return [
    ...(answers.join() === `completed: ${answerTo(question)}`
      ? []
      : [`the journal has the turns [${answers.join(" | ")}]`]),
    ...(isExpected(asks, during === "ask") || (during === null && isExpected(asks, true))
      ? []
      : [`the model was asked ${asks} times what to do`]),
    ...(isExpected(finals, during === "answer") || (during === null && isExpected(finals, true))
      ? []
      : [`the model was asked for the answer ${finals} times`]),
    // A tool that was killed may have run or not; it must not run again.
    ...(ordered === 1 || (ordered === 0 && during === null && isUnknown) ? [] : [`it was ordered ${ordered} times`]),
  ].map(
    (problem) => `${chat}, cut off ${during === null ? "at some moment" : `in the call for the ${during}`}: ${problem}`,
  );
};

/** Checks that a call was made once, and once more if its process died or lost the thread during it. */
const isExpected = (calls: number, isCutOff: boolean): boolean => calls === (isCutOff ? 2 : 1);

export const timesOrdered = (orders: string, thing: string): number =>
  existsSync(orders)
    ? readFileSync(orders, "utf8")
        .split("\n")
        .filter((line) => line === thing).length
    : 0;
