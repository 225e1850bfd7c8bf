import type { Memory, Program, SessionOptions } from "../src/index.ts";
import { session, type Session } from "../src/index.ts";
import { onTestFinished } from "vitest";

/** The inputs and outputs of most programs here. */
export interface Question {
  readonly q: string;
  readonly context?: string;
}
export interface Answer {
  readonly a: string;
}

export type Options = Omit<SessionOptions<Question, Question, Answer, Answer>, "signature" | "name"> & {
  readonly name?: string;
};

/** A session that is closed when its test ends. */
export const sessionOf = (
  program: Program<Question, Answer>,
  options: Options = {},
): Session<Question, Question, Answer, Answer> => {
  const made = session<Question, Answer>(program, { name: "qa", ...options });
  onTestFinished(() => made.close());
  return made;
};

/** A session that answers each question with `A`, and the memories that its program saw. */
export const seeing = (options: Options = {}) => {
  const seen: Memory[] = [];
  const qa = sessionOf((_, { memory }) => {
    seen.push(memory);
    return { a: "A" };
  }, options);
  return { qa, seen };
};

/** Calls with `Q<first>` and so on. */
export const asked = async (
  qa: Pick<Session<Question, Question, Answer, Answer>, "call">,
  ...numbers: readonly number[]
): Promise<void> => {
  for (const number of numbers) await qa.call({ q: `Q${number}` });
};

/** The questions of a memory, with the numbers of their turns. */
export const questions = (memory: Memory | undefined): readonly (readonly unknown[])[] =>
  (memory?.exchanges ?? []).map(({ turn, inputs }) => [turn, inputs["q"]]);
