import type { Activity } from "../active-threads.ts";
import { LlmRun } from "./llm-run.ts";
import type { Running } from "./loop.ts";
import { SummaryRun } from "./summary-run.ts";

/** What a thread does with its place, given what is running for it: it calls its model, or waits for something else. */
export const activityOf = (running: Iterable<Running>): Activity => {
  for (const each of running) {
    if ((each instanceof LlmRun || each instanceof SummaryRun) && each.isCalling) return "works";
  }
  return "rests";
};
