// Helpers that run the rows of docs/coming-from.md.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "@colloquy/runtime-node";
import { reply, type ScriptedModel, scriptedModel } from "@colloquy/runtime-test/models";
import { type Exchange, type Memory, session, type Session, type SessionOptions } from "@colloquy/sessions";
import { onTestFinished } from "vitest";
import { z } from "zod";

/** By the left cell of a row, a function that runs the right cell and checks its promise. */
export type Rows = Readonly<Record<string, () => Promise<void> | void>>;

export const read = (path: string): string => readFileSync(join(import.meta.dirname, "../..", path), "utf8");

/** Closes a value when the test ends. Returns it. */
export const closing = <Each extends Pick<Host, "close">>(made: Each): Each => {
  onTestFinished(() => made.close());
  return made;
};

/** Makes a model that answers with these outputs, one after the other. */
export const saying = (...outputs: readonly object[]): ScriptedModel =>
  scriptedModel(outputs.map((each) => reply(JSON.stringify(each))));

export interface Question {
  readonly question: string;
  readonly context?: string;
}
export interface Answer {
  readonly answer: string;
}

export const inputs = z.object({ question: z.string() });
export const outputs = z.object({ answer: z.string() });

export type QaOptions = Omit<SessionOptions<Question, Question, Answer, Answer>, "name" | "signature">;

/** Makes a session whose program answers `A1`, `A2` and so on, and records the memories that it saw. */
export const answering = (options: QaOptions = {}) => {
  const seen: Memory[] = [];
  const program = (_: Question, { memory }: { readonly memory: Memory }): Answer => {
    seen.push(memory);
    return { answer: `A${seen.length}` };
  };
  return { qa: closing(session(program, { name: "qa", ...options })), seen };
};

/** Asks `count` questions: `Q1`, `Q2` and so on. */
export const asked = async (qa: Pick<Session<Question, Question, Answer>, "call">, count: number): Promise<void> => {
  for (let number = 1; number <= count; number++) await qa.call({ question: `Q${number}` });
};

/** Returns the questions of a memory, oldest first. */
export const questionsIn = (
  memory: { readonly exchanges: readonly Pick<Exchange, "inputs">[] } | undefined,
): readonly unknown[] => (memory?.exchanges ?? []).map((exchange) => exchange.inputs["question"]);
