import type { Journal } from "./journal.ts";
import type { Recorded } from "./records.ts";

/** How many summaries were asked for in the background, and how many were awaited because the prompt did not fit without. */
export interface SummaryCounts {
  readonly background: number;
  readonly awaited: number;
}

export const summariesIn = ({ entries }: Journal): SummaryCounts => {
  let background = 0;
  let awaited = 0;
  for (const entry of entries) {
    const decided = "decided" in entry ? entry.decided : undefined;
    if (decided?.summary === undefined) continue;
    if (decided.compacting === undefined) background += 1;
    else awaited += 1;
  }
  return { background, awaited };
};

/** How many summaries more than one boot wrote. */
export const summariesResumed = (records: readonly Recorded[]): number => {
  const boots = new Map<string, Set<number>>();
  for (const fact of records) {
    if (fact.type !== "performed" || !isSummaryId(fact.effectId)) continue;
    boots.set(fact.effectId, (boots.get(fact.effectId) ?? new Set()).add(fact.boot));
  }
  return [...boots.values()].filter(({ size }) => size > 1).length;
};

export const isSummaryId = (effectId: string): boolean => effectId.includes("/summary-");
