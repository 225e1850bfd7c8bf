import type { Entry, State } from "@colloquy/machine";
import { decodeJournal, fold } from "@colloquy/machine/journal";
import { differenceOf } from "@colloquy/runtime-test/laws";
import * as Either from "fp-ts/lib/Either.js";

import { wordsOf } from "../kit/report.ts";
import { type JournalVector, journalVectorOf } from "./journal-vector.ts";
import { played, scriptOf, vectorOf } from "./record.ts";
import type { Script, Vector } from "./vector.ts";

export const problemOfFile = (vector: Vector | JournalVector): string | null => {
  if (vector.profile !== "journals") return problemOfVector(vector);
  const { name, says, entries, fork, redact } = vector;
  try {
    const given = { ...(fork === undefined ? {} : { fork }), ...(redact === undefined ? {} : { redact }) };
    return differenceOf(vector, plain(journalVectorOf({ name, says, entries, ...given })));
  } catch (thrown) {
    return wordsOf(thrown);
  }
};

const problemOfVector = (vector: Vector): string | null => {
  try {
    const script = scriptOf(vector);
    return differenceOf(vector, vectorOf(script)) ?? problemOfFold(script, vector);
  } catch (thrown) {
    return `it throws: ${wordsOf(thrown)}`;
  }
};

/** Checks that the entries of the steps are a journal, and fold to the state after the last step. */
const problemOfFold = (script: Script, { steps }: Vector): string | null => {
  const entries = steps.flatMap((step) => ("entry" in step ? step.entry : []));
  const folded = foldOf(entries);
  if (typeof folded === "string") return `its entries are not a journal: ${folded}`;
  const last = played(script).steps.at(-1)?.answer.state;
  const difference = last === undefined ? null : differenceOf(plain(last), plain(folded));
  return difference === null ? null : `its entries fold to another state: ${difference}`;
};

const foldOf = (entries: readonly Entry[]): State | string => {
  const decoded = decodeJournal(entries);
  if (Either.isLeft(decoded)) return decoded.left.reason;
  const folded = fold(decoded.right);
  return Either.isLeft(folded) ? folded.left.reason : folded.right;
};

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
