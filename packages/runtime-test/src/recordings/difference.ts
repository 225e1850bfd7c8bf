import type { Json, JsonObject } from "@colloquy/machine";
import { type CanonicalItem, canonicalJson, type CanonicalMessage, sameItem, sameMessage } from "./canonical.ts";
import type { RecordedCase } from "./case.ts";

/** The first difference between a replay and its recording. */
export interface CaseDifference {
  /** The index of the step; null before the first step, and for comparisons at the end. */
  readonly step: number | null;
  /** The expected and the actual value, for a reader. */
  readonly words: string;
}

/** Describes a difference in one sentence. */
export const describeCaseDifference = (recorded: RecordedCase, { step, words }: CaseDifference): string =>
  step === null ? words : `step ${step} (${recorded.steps[step]?.type ?? "none"}): ${words}`;

/** Describes the first difference of two message lists; null if they are the same. */
export const firstDifference = (
  came: readonly CanonicalMessage[],
  recorded: readonly CanonicalMessage[],
): string | null =>
  differenceIn("message", came, recorded, glimpse, (index, actual, expected) =>
    sameMessage(actual, expected) ? null : `message ${index} (${expected.role}): ${fieldDifference(actual, expected)}`,
  );

export const firstItemDifference = (
  came: readonly CanonicalItem[],
  recorded: readonly CanonicalItem[],
): string | null =>
  differenceIn("item", came, recorded, glimpseOfItem, (index, actual, expected) =>
    sameItem(actual, expected) ? null : `item ${index} (${expected.type}): ${contrast(actual, expected)}`,
  );

export const glimpseOfItem = ({ type, ...rest }: CanonicalItem): string =>
  `${type} ${canonicalJson(rest).slice(0, 80)}`;

const differenceIn = <Each>(
  what: string,
  came: readonly Each[],
  recorded: readonly Each[],
  glimpseOf: (each: Each) => string,
  differenceOf: (index: number, actual: Each, expected: Each) => string | null,
): string | null => {
  for (const [index, expected] of recorded.entries()) {
    const actual = came[index];
    if (actual === undefined) return `${what} ${index} is missing: recorded ${glimpseOf(expected)}`;
    const difference = differenceOf(index, actual, expected);
    if (difference !== null) return difference;
  }
  const extra = came[recorded.length];
  return extra === undefined ? null : `${what} ${recorded.length} is one too many: came ${glimpseOf(extra)}`;
};

/** Describes two different values, each truncated around the first difference. */
export const contrast = (came: Json | undefined, recorded: Json | undefined): string => {
  const [actual, expected] = [canonicalJson(came), canonicalJson(recorded)];
  const from = Math.max(0, sharedLength(actual, expected) - contextCharacters);
  return `came ${excerpt(actual, from)}, recorded ${excerpt(expected, from)}`;
};

export const glimpse = (message: CanonicalMessage): string => {
  const { role, ...rest } = message;
  return `${role} ${excerpt(canonicalJson(rest.content ?? rest), 0)}`;
};

const contextCharacters = 20;
const shownCharacters = 80;

const fieldDifference = (came: CanonicalMessage, recorded: CanonicalMessage): string => {
  const [actual, expected]: [JsonObject, JsonObject] = [came, recorded];
  const field = [...new Set([...Object.keys(actual), ...Object.keys(expected)])]
    .sort((left, right) => rank(left) - rank(right))
    .find((key) => canonicalJson(actual[key]) !== canonicalJson(expected[key]));
  return field === undefined ? "no field differs" : `${field}: ${contrast(actual[field], expected[field])}`;
};

/** Ranks a wrong role first, because it explains all other differences. */
const rank = (field: string): number => (field === "role" ? 0 : 1);

const sharedLength = (left: string, right: string): number => {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length++;
  return length;
};

const excerpt = (text: string, from: number): string => {
  const shown = text.slice(from, from + shownCharacters);
  return `${from > 0 ? "…" : ""}${shown}${from + shownCharacters < text.length ? "…" : ""}`;
};
