import type { AnswerableEffect, Entry } from "@colloquy/machine";

import { declarations } from "./script.ts";

/** The rule of a recovery for one kind of effect that was outstanding when the process died. */
export interface Row {
  readonly name: string;
  /** The outstanding effect. */
  readonly outstanding: string;
  /** The recovery that its tool declares, for tools. */
  readonly recovery?: string;
  readonly becomes: string;
  /** The entry that is written in the place of its answer; null where it is answered as though nothing had happened. */
  readonly recovered: "tool.failed interrupted" | "tool.failed unknown" | "tool.withheld unknown_outcome" | null;
}

/** R2, as data: what was outstanding, by the rule of recovery, and what becomes of it. */
export const table: readonly Row[] = [
  {
    name: "answer",
    outstanding: "a model call",
    becomes: "it is made again: the same id, the same prompt",
    recovered: null,
  },
  { name: "summary", outstanding: "a call for a summary", becomes: "as above", recovered: null },
  {
    name: "timer",
    outstanding: "a timer",
    becomes: "it is set again; one that is overdue fires at once",
    recovered: null,
  },
  {
    name: "question",
    outstanding: "a question whether a tool may run",
    becomes: "it stands, and can be answered by anybody, for days",
    recovered: null,
  },
  { name: "check", outstanding: "a check of an output", becomes: "it is made again", recovered: null },
  {
    name: "to approve",
    outstanding: "a tool call that has to be approved first",
    recovery: "any",
    becomes: "its arguments are validated again, and somebody is asked",
    recovered: null,
  },
  {
    name: "rerun",
    outstanding: "a tool call",
    recovery: "rerun",
    becomes: "it runs again, under the same idempotency key",
    recovered: null,
  },
  {
    name: "interrupted",
    outstanding: "a tool call",
    recovery: "interrupted",
    becomes: "it does not run; its result says that it was interrupted",
    recovered: "tool.failed interrupted",
  },
  {
    name: "once, not started",
    outstanding: "a tool call, no start journalled",
    recovery: "once",
    becomes: "it runs, for the first time",
    recovered: null,
  },
  {
    name: "once, started",
    outstanding: "a tool call, its start journalled",
    recovery: "once",
    becomes: "it does not run; its result says that its outcome is unknown",
    recovered: "tool.failed unknown",
  },
  {
    name: "ask, not started",
    outstanding: "a tool call, no start journalled",
    recovery: "ask",
    becomes: "it runs, for the first time",
    recovered: null,
  },
  {
    name: "ask, started",
    outstanding: "a tool call, its start journalled",
    recovery: "ask",
    becomes: "it does not run; somebody is asked whether it runs again",
    recovered: "tool.withheld unknown_outcome",
  },
];

/** The row that an outstanding effect falls under. */
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

/** The table as `docs/host.md` has it. */
export const tableInMarkdown = (): string =>
  [
    ["outstanding", "recovery", "then", "entry marked `recovered`"],
    ["---", "---", "---", "---"],
    ...table.map(({ outstanding, recovery, becomes, recovered }) => [
      outstanding,
      recovery === undefined ? "" : recovery === "any" ? "any" : `\`${recovery}\``,
      becomes,
      recovered === null ? "none" : recovered.replace(/(\S+) (\S+)/u, "`$1`, `$2`"),
    ]),
  ]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
