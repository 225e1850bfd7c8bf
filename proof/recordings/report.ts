import type { Json, JsonObject } from "@colloquy/machine";
import { addFigures, type Figures, noFigures } from "@colloquy/runtime-test/recordings";

export interface Report {
  readonly title: string;
  /** Figures and other facts for a reader. */
  readonly lines: readonly string[];
  readonly passed: number;
  readonly failures: readonly Finding[];
  /** Content that no conversation can contain, and how its recording was changed. */
  readonly inexpressible: readonly Finding[];
}

export interface Finding {
  readonly id: string;
  readonly words: string;
}

export const printed = ({ title, lines, passed, failures, inexpressible }: Report): string =>
  [
    `${title}: ${count(passed)} passed, ${count(failures.length)} failed${inexpressible.length === 0 ? "" : `, ${count(inexpressible.length)} can't be expressed`}`,
    ...lines.map((line) => `  ${line}`),
    ...failures.map(({ id, words }) => `  FAILED ${id}\n    ${words}`),
    ...inexpressible.map(({ id, words }) => `  can't be expressed: ${id}\n    ${words}`),
  ].join("\n");

export const figuresLine = (figures: Figures): string =>
  [
    `${count(figures.conversations)} conversations`,
    `${count(figures.llmCalls)} LLM calls`,
    `${count(figures.toolCalls)} tool calls`,
    `${count(figures.toolResults)} results`,
    `${count(figures.userMessages)} user messages`,
    `${count(figures.messagesFinal)} messages final`,
    `${count(figures.messagesSent)} messages sent`,
    figures.totalTokens === 0
      ? "no usage recorded"
      : `${[figures.promptTokens, figures.completionTokens, figures.totalTokens].map(count).join(" / ")} prompt / completion / total tokens`,
  ].join(", ");

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const lengthOf = (value: Json | undefined): number => (Array.isArray(value) ? value.length : 0);

/** The key of a model call, by which a case and its exchange find each other. */
export const keyOfCall = (
  source: Json | undefined,
  { cassette, index }: { readonly cassette?: Json | undefined; readonly index?: Json | undefined },
): string => JSON.stringify([source ?? "", cassette, index]);

export const sumOfFigures = (figures: Iterable<Figures>): Figures => {
  let sum = noFigures;
  for (const each of figures) sum = addFigures(sum, each);
  return sum;
};

export const count = (value: number): string => value.toLocaleString("en");
