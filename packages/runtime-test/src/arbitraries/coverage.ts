import type { EventType, State } from "@colloquy/machine";
import type { Trace } from "./trace.ts";

/** The leaf states of the chart. */
export type Leaf = (typeof leaves)[number];

/** The number of times an event was sent in a leaf state, and the number of times it was handled there. */
export interface PairCoverage {
  readonly leaf: Leaf;
  readonly event: EventType;
  readonly sent: number;
  readonly handled: number;
}

export const leaves = [
  "idle",
  "responding",
  "compacting",
  "checking",
  "backing_off",
  "running",
  "awaiting_approval",
  "completed",
  "error",
] as const;

/** Returns the leaf state that a conversation is in. */
export const leafOf = ({ value }: State): Leaf => {
  if (typeof value === "string") return value;
  return "awaiting_llm" in value ? value.awaiting_llm : value.awaiting_tool;
};

/**
 * Counts how often each event was sent in each state, and handled there. Returns every pair of a leaf and one of
 * `events`, including pairs that never occurred.
 */
export const coverageOf = (traces: Iterable<Trace>, events: readonly EventType[]): readonly PairCoverage[] => {
  const counts = new Map<string, { sent: number; handled: number }>();
  for (const { steps } of traces) {
    for (const { before, event, transition } of steps) {
      const key = `${leafOf(before)} ${event.type}`;
      const { sent, handled } = counts.get(key) ?? { sent: 0, handled: 0 };
      counts.set(key, { sent: sent + 1, handled: handled + (transition.handled ? 1 : 0) });
    }
  }
  return leaves.flatMap((leaf) =>
    events.map((event) => ({ leaf, event, ...(counts.get(`${leaf} ${event}`) ?? { sent: 0, handled: 0 }) })),
  );
};

/** Formats the coverage as a table: a row for each event, a column for each state, `handled/sent` in each cell. */
export const coverageTable = (coverage: readonly PairCoverage[]): string => {
  const events = [...new Set(coverage.map(({ event }) => event))];
  const cell = (event: EventType, leaf: Leaf): string => {
    const pair = coverage.find((candidate) => candidate.event === event && candidate.leaf === leaf);
    return pair === undefined ? "" : `${pair.handled}/${pair.sent}`;
  };
  const rows = [["", ...leaves], ...events.map((event) => [event, ...leaves.map((leaf) => cell(event, leaf))])];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
};
