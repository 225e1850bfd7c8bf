import { type ConversationMachine, messagesOf, type State } from "@colloquy/machine";
import type { Explanation } from "@colloquy/machine/inspect";
import { realSubject, type Subject } from "../../arbitraries/subject.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { type MachineLaw, machinesFor, traceFor } from "./machine-law.ts";

/**
 * Checks that `explain` agrees with the next prompt. Its units and its summary, joined, are the prompt, message by
 * message. Together the units hold the whole thread. Each "whole", "shrunk", "summary" and "out" is correct and has a
 * reason. The tokens of the sent parts add up to the prompt's tokens.
 */
export const lawExplained = (
  machine: ConversationMachine,
  state: State,
  subject: Pick<Subject, "explain" | "promptOf"> = realSubject,
): void => {
  const explanation = subject.explain(machine, state);
  const { messages, tokens, available, fits } = subject.promptOf(machine, state);
  requireSame(law, "what is explained as sent", messages, sentBy(explanation));
  const { tokens: counted, available: room, fits: fitting } = explanation;
  requireSame(law, "the figures", { tokens, available, fits }, { tokens: counted, available: room, fits: fitting });
  requireWholeThread(explanation, state);
  for (const unit of explanation.units) requireWord(unit, explanation);
  requireSum(explanation);
};

/** Checks `lawExplained` at the end of a schedule. */
export const explaining: MachineLaw = (options, schedule, subject = realSubject) => {
  const { started, steps } = traceFor(options, schedule, subject);
  lawExplained(machinesFor(options).machine, steps.at(-1)?.transition.state ?? started.state, subject);
};

const law = "explain";

type Unit = Explanation["units"][number];

/** Returns the units and the summary that are sent according to the explanation, in the order of the prompt. */
const sentBy = ({ units, summary }: Explanation) => {
  const [system, rest] = [units.filter(isSystem), units.filter((unit) => !isSystem(unit))];
  return [
    ...system.flatMap(({ sent }) => sent),
    ...(summary === null ? [] : [summary.message]),
    ...rest.flatMap(({ sent }) => sent),
  ];
};

const isSystem = ({ kind }: Unit): boolean => kind === "system";

const requireWholeThread = ({ units }: Explanation, state: State): void => {
  const said = messagesOf(state).map(({ id }) => id);
  const ids = new Set(said);
  const held = units.filter((unit) => !isSystem(unit)).flatMap(({ messages }) => messages.map(({ id }) => id));
  // Results of running calls are synthesised, and not yet part of the thread.
  requireSame(
    law,
    "the messages that the units hold",
    said,
    held.filter((id) => ids.has(id)),
  );
};

const requireWord = ({ id, shown, sent, messages, why, rule }: Unit, { summary }: Explanation): void => {
  const isWhole = sent.length === messages.length && sent.every((message, index) => message === messages[index]);
  const is = isWhole ? "whole" : sent.length > 0 ? "shrunk" : rule === "summary" ? "summary" : "out";
  if (shown !== is) throw new LawBroken(law, `unit ${id} is said to be shown "${shown}", and is "${is}"`);
  if (rule === "summary" && summary === null)
    throw new LawBroken(law, `unit ${id} is said to be in a summary, and there is none`);
  if (why === "") throw new LawBroken(law, `why unit ${id} is ${shown} is not said`);
};

const requireSum = ({ units, summary, tokens, besideTokens }: Explanation): void => {
  if (tokens === null) return;
  const sent = units.reduce((sum, { sentTokens }) => sum + (sentTokens ?? Number.NaN), summary?.tokens ?? 0);
  if (sent + (besideTokens ?? Number.NaN) !== tokens)
    throw new LawBroken(law, `${sent} tokens of units and ${besideTokens} beside them are said to be ${tokens}`);
};
