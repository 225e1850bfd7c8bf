import type { Json, JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { accepted, type Answer, badRequest, refusal, shardFailure } from "./answer.ts";
import type { DocumentIndex } from "./documents.ts";

export interface Page {
  readonly from: number;
  readonly size: number;
}

/** A list's messages about invalid numbers; `negative` is null if the service does not check for it beforehand. */
export interface PageWords {
  readonly notPositive: string;
  readonly negative: string | null;
}

export const pageParameters: readonly string[] = ["max_results", "next_token"];

export const pageOf = (query: URLSearchParams, words: PageWords): Either.Either<Answer, Page> => {
  const numbers = [];
  for (const [name, fallback] of [
    ["next_token", 0],
    ["max_results", 10],
  ] as const) {
    const number = query.has(name) ? javaInteger(query.get(name) ?? "") : Either.right(fallback);
    if (Either.isLeft(number)) return number;
    numbers.push(number.right);
  }
  const [from = 0, size = 10] = numbers;
  const problems = [
    ...(size <= 0 ? [words.notPositive] : []),
    ...(from < 0 && words.negative !== null ? [words.negative] : []),
  ];
  if (problems.length === 0) return Either.right({ from, size });
  const numbered = problems.map((problem, index) => `${index + 1}: ${problem};`).join("");
  return Either.left(refusal(400, "action_request_validation_exception", `Validation Failed: ${numbered}`));
};

/** Returns one page of a list. A full page has a token for the next page, even if that is empty. */
export const pagedAnswer = (
  index: DocumentIndex,
  name: string,
  items: readonly JsonObject[],
  { from, size }: Page,
): Answer => {
  const problem = problemOfWindow(index, from, size);
  if (problem !== null) return problem;
  const page: readonly Json[] = items.slice(from, from + size);
  return accepted({ [name]: page, ...(page.length === size ? { next_token: from + size } : {}) });
};

/** Returns the service's error about the window of a search, or null. */
export const problemOfWindow = (index: DocumentIndex, from: number, size: number): Answer | null => {
  if (from < 0) return badRequest("[from] parameter cannot be negative");
  if (size < 0) return badRequest(`[size] parameter cannot be negative, found [${size}]`);
  if (from + size <= windowMax) return null;
  return shardFailure(
    index.name,
    "illegal_argument_exception",
    `Result window is too large, from + size must be less than or equal to: [${windowMax}] but was [${from + size}]. ` +
      "See the scroll api for a more efficient way to request large data sets. " +
      "This limit can be set by changing the [index.max_result_window] index level setting.",
  );
};

/** The default of `index.max_result_window`. */
const windowMax = 10_000;

const javaInteger = (text: string): Either.Either<Answer, number> => {
  const number = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  return number >= -(2 ** 31) && number < 2 ** 31
    ? Either.right(number)
    : Either.left(refusal(400, "number_format_exception", `For input string: "${text}"`));
};
