import type { Doing } from "../active-threads.ts";
import { LlmRun } from "./llm-run.ts";
import type { Running } from "./loop.ts";
import { SummaryRun } from "./summary-run.ts";
import { ToolRun } from "./tool-run.ts";

/** What a thread does, given what is running for it. Timers cost nothing while they run. */
export const doingOf = (running: Iterable<Running>): Doing => {
  let doing: Doing = "rests";
  for (const each of running) {
    if (each instanceof LlmRun || each instanceof SummaryRun) return "works";
    if (each instanceof ToolRun) doing = "tools";
  }
  return doing;
};
