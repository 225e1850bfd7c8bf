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

/** Makes a session that is closed when its test ends. */
export const sessionOf = (
  program: Program<Question, Answer>,
  options: Options = {},
): Session<Question, Question, Answer, Answer> => {
  const made = session<Question, Answer>(program, { name: "qa", ...options });
  onTestFinished(() => made.close());
  return made;
};

/** Makes a session that answers each question with `A`, and records the memories that its program saw. */
export const seeing = (options: Options = {}) => {
  const seen: Memory[] = [];
  const qa = sessionOf((_, { memory }) => {
    seen.push(memory);
    return { a: "A" };
  }, options);
  return { qa, seen };
};

/** Calls the session with `Q<first>` and so on. */
export const asked = async (
  qa: Pick<Session<Question, Question, Answer, Answer>, "call">,
  ...numbers: readonly number[]
): Promise<void> => {
  for (const number of numbers) await qa.call({ q: `Q${number}` });
};

/** Returns the questions of a memory with their turn numbers. */
export const questions = (memory: Memory | undefined): readonly (readonly unknown[])[] =>
  (memory?.exchanges ?? []).map(({ turn, inputs }) => [turn, inputs["q"]]);
