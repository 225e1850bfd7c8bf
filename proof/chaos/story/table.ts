import type { AnswerableEffect, Entry } from "@colloquy/machine";

import { declarations } from "./script.ts";

/** The recovery rule for one kind of effect that was outstanding when the process died. */
export interface Row {
  readonly name: string;
  readonly outstanding: string;
  /** The recovery that its tool declares; null if it is not a tool. */
  readonly recovery: string | null;
  readonly becomes: string;
  /** The entry that replaces its answer; null if it is answered normally. */
  readonly recovered: "tool.failed interrupted" | "tool.failed unknown" | "tool.withheld unknown_outcome" | null;
}

/** R2 as data: the outstanding effect, its recovery rule, and the result. */
export const table: readonly Row[] = [
  row("answer", "a model call", "it is made again: the same id, the same prompt"),
  row("summary", "a call for a summary", "as above"),
  row("timer", "a timer", "it is set again; one that is overdue fires at once"),
  row("question", "a question whether a tool may run", "it waits for an answer, for days"),
  row("check", "a check of an output", "it is made again"),
  row(
    "to approve",
    "a tool call that has to be approved first",
    "its arguments are validated again, and a person is asked",
    "any",
  ),
  row("rerun", "a tool call", "it runs again, under the same idempotency key", "rerun"),
  row(
    "interrupted",
    "a tool call",
    "it does not run; its result says that it was interrupted",
    "interrupted",
    "tool.failed interrupted",
  ),
  row("once, not started", "a tool call, no start journalled", "it runs, for the first time", "once"),
  row(
    "once, started",
    "a tool call, its start journalled",
    "it does not run; its result says that its outcome is unknown",
    "once",
    "tool.failed unknown",
  ),
  row("ask, not started", "a tool call, no start journalled", "it runs, for the first time", "ask"),
  row(
    "ask, started",
    "a tool call, its start journalled",
    "it does not run; a person is asked whether it runs again",
    "ask",
    "tool.withheld unknown_outcome",
  ),
];

function row(
  name: string,
  outstanding: string,
  becomes: string,
  recovery: string | null = null,
  recovered: Row["recovered"] = null,
): Row {
  return { name, outstanding, becomes, recovery, recovered };
}

export const rowOf = (effect: AnswerableEffect): Row => {
  const name = nameOf(effect);
  const row = table.find((candidate) => candidate.name === name);
  if (row === undefined) throw new Error(`the table says nothing of ${name}`);
  return row;
};

const nameOf = (effect: AnswerableEffect): string => {
  switch (effect.type) {
    case "callLlm":
      return effect.purpose;
    case "startTimer":
      return "timer";
    case "requestApproval":
      return "question";
    case "checkOutput":
      return "check";
    case "callTool": {
      if (effect.approval === "required") return "to approve";
      const recovery = declarations.find((tool) => tool.name === effect.name)?.recovery ?? "interrupted";
      const matters = recovery === "once" || recovery === "ask";
      return matters ? `${recovery}, ${effect.started ? "started" : "not started"}` : recovery;
    }
  }
};

/** Returns the table's name for an entry; null if no recovery wrote it. */
export const recoveredAs = (entry: Entry): Row["recovered"] | "something else" => {
  if (!("recovered" in entry)) return null;
  const { event } = entry;
  if (event.type === "tool.failed" && event.outcome === "interrupted") return "tool.failed interrupted";
  if (event.type === "tool.failed" && event.outcome === "unknown") return "tool.failed unknown";
  if (event.type === "tool.withheld" && event.because === "unknown_outcome") return "tool.withheld unknown_outcome";
  return "something else";
};

export const tableInMarkdown = (): string =>
  [
    ["outstanding", "recovery", "then", "entry marked `recovered`"],
    ["---", "---", "---", "---"],
    ...table.map(({ outstanding, recovery, becomes, recovered }) => [
      outstanding,
      recovery === null ? "" : recovery === "any" ? "any" : `\`${recovery}\``,
      becomes,
      recovered === null ? "none" : recovered.replace(/(\S+) (\S+)/u, "`$1`, `$2`"),
    ]),
  ]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
