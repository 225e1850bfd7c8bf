import type { AskPart, HostedThread } from "@colloquy/host";
import type { RequestApproval, Usage } from "@colloquy/machine";
import { readCost } from "@colloquy/machine/inspect";
import { approvableJson, failureText, named, noteOf, oneLine, type Printer } from "@colloquy/cli/terminal";
import { lexer, walkTokens } from "marked";
import { ArgumentError } from "./exit-code.ts";
import { summaryOf, type TurnEnd, figuresOf } from "./turn.ts";

/** Shows turns in one of the formats: answers on the output, everything else on the error output. */
export interface Answers {
  readonly part: (part: AskPart) => void;
  readonly end: (end: TurnEnd, beside: BesideAnswer) => Promise<void>;
}

interface BesideAnswer {
  readonly thread: HostedThread;
  /** Lines after the figures of the turn. */
  readonly notes: readonly string[];
  /** The command that gives the approval it waits for. */
  readonly wayOut: string;
}

interface AnswersOptions {
  readonly format: OutputFormat;
  /** Whether answers are shown as they stream in. */
  readonly streams: boolean;
  /** Whether only the first block of code of an answer is shown, if it has one. */
  readonly extracts: boolean;
  /** The output beside answers. */
  readonly detail: "none" | "some" | "all";
}

const formats = ["text", "json", "stream-json"] as const;

type OutputFormat = (typeof formats)[number];

/** @throws ArgumentError for an unknown format */
export const formatOf = (given = "text"): OutputFormat => {
  const format = formats.find((name) => name === given);
  if (format !== undefined) return format;
  throw new ArgumentError(`--output-format is "${given}"; it must be one of: ${formats.join(", ")}`);
};

export const answersOn = (output: Printer, errors: Printer, options: AnswersOptions): Answers => {
  const answers =
    options.format === "text" ? textAnswers(output, errors, options) : jsonAnswers(output, errors, options);
  if (!options.extracts) return answers;
  return {
    ...answers,
    end: (end, beside) =>
      answers.end(end.status === "completed" ? { ...end, text: codeIn(end.text) ?? end.text } : end, beside),
  };
};

/** Returns the first block of code in Markdown; undefined if there is none. */
const codeIn = (markdown: string): string | undefined => {
  const found: string[] = [];
  void walkTokens(lexer(markdown), (token) => {
    if (token.type === "code") found.push(String(token["text"]));
  });
  return found[0];
};

/**
 * Shows answers as text. Without streaming, an answer is printed when it is complete; text before tool calls is not an
 * answer.
 */
const textAnswers = (output: Printer, errors: Printer, { streams, detail }: AnswersOptions): Answers => {
  let isShown = false;
  const note = (line: string): void => {
    if (detail === "none") return;
    output.endLine();
    errors.line(line);
  };
  return {
    part: (part) => {
      if (part.type === "step.started") isShown = false;
      if (streams && (part.type === "text.delta" || part.type === "refusal.delta")) {
        isShown = true;
        output.text(part.text);
        return;
      }
      const happened = noteOf(part, detail === "all");
      if (happened !== null) note(`  ${happened}`);
    },
    end: async (end, { thread, notes, wayOut }) => {
      if (end.status === "completed" && !isShown) output.text(end.text);
      output.endLine();
      if (end.status === "completed") {
        for (const line of [(await figuresOf(thread, end.turn.turn)) ?? [], notes].flat()) note(line);
        return;
      }
      for (const line of problemsOf(end, wayOut)) errors.line(line);
    },
  };
};

const jsonAnswers = (output: Printer, errors: Printer, { format }: AnswersOptions): Answers => ({
  part: (part) => {
    if (format === "stream-json") output.json(part);
  },
  end: async (end, { thread, wayOut }) => {
    const result = { ...resultOf(end), thread: thread.id };
    output.json(format === "json" ? result : { type: "result", ...result });
    if (end.status !== "completed") for (const line of problemsOf(end, wayOut)) errors.line(line);
  },
});

const resultOf = (end: TurnEnd): { readonly [name: string]: unknown } => {
  if (end.status === "completed") {
    const { turn, usage } = end.turn;
    return { status: end.status, answer: end.text, turn, usage: usageOf(usage), cost: costsOf(usage) };
  }
  if (end.status === "waiting")
    return {
      status: end.status,
      answer: null,
      turn: end.approvals[0]?.turn ?? null,
      approvals: end.approvals.map(({ id, name, arguments: written }) => ({ id, name, arguments: written })),
    };
  const { turn = null, text = "", usage } = summaryOf(end.thrown) ?? {};
  return {
    status: end.status,
    answer: null,
    partial: text,
    turn,
    error: failureText(end.thrown),
    ...(usage === undefined ? {} : { usage: usageOf(usage), cost: costsOf(usage) }),
  };
};

const usageOf = ({
  calls,
  inputTokens,
  outputTokens,
  totalTokens,
}: Usage): { readonly [name: string]: number | null } => {
  const known = ({ sum, unreported }: Usage["totalTokens"]): number | null => (unreported === 0 ? sum : null);
  return {
    calls,
    inputTokens: known(inputTokens),
    outputTokens: known(outputTokens),
    totalTokens: known(totalTokens),
  };
};

/** Returns the costs; null if unknown. */
const costsOf = (usage: Usage): { readonly [currency: string]: number } | null => {
  const { amounts, unknownCalls } = readCost(usage);
  return unknownCalls > 0 ? null : Object.fromEntries(amounts.map(({ currency, amount }) => [currency, amount]));
};

const problemsOf = (end: Exclude<TurnEnd, { status: "completed" }>, wayOut: string): readonly string[] => {
  if (end.status !== "waiting") return [end.status === "cancelled" ? "cancelled" : `error: ${failureText(end.thrown)}`];
  return end.approvals.length === 0
    ? ["the turn waits for whoever asked to give the result of a tool call"]
    : [...end.approvals.map((request) => `waits for approval: ${inWords(request)}`), wayOut];
};

const inWords = ({ id, name, arguments: written }: RequestApproval): string =>
  `${oneLine(name)} ${approvableJson(written)}, as ${named(id)}`;
