import type { Memory } from "../src/index.ts";
import { session, type Session, type SessionOptions } from "../src/index.ts";

export interface Question {
  readonly question: string;
}

export interface Answer {
  readonly answer: string;
}

export type QuestionAnswerer = Session<Question, Question, Answer>;

/** Makes a session whose program answers from a list, and throws its errors. `seen` has the memory of each call. */
export const answering = (
  answers: readonly (string | Error)[],
  options: Partial<SessionOptions<Question, Question, Answer, Answer>> = {},
): { readonly qa: QuestionAnswerer; readonly seen: readonly Memory[] } => {
  const seen: Memory[] = [];
  const { signature: _, ...others } = options;
  const qa = session<Question, Answer>(
    (_question, { memory }) => {
      const answer = answers[seen.push(memory) - 1] ?? "A";
      if (answer instanceof Error) throw answer;
      return { answer };
    },
    { name: "qa", ...others },
  );
  return { qa, seen };
};

/** Calls the session with Q0, Q1 and so on; the turns record failures. */
export const asked = async (qa: QuestionAnswerer, count: number, from = 0): Promise<QuestionAnswerer> => {
  for (let index = from; index < from + count; index++) await qa.call({ question: `Q${index}` }).catch(() => null);
  return qa;
};

/** Returns the question of each turn on the path. */
export const questionsOf = async (qa: QuestionAnswerer): Promise<readonly string[]> =>
  (await qa.turns()).map(({ inputs }) => inputs.question);

/** Returns a value after it was written as JSON and read again. */
export const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
