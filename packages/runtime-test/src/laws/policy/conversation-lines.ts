import { conversationMachine, type Event, type MachineOptions, type ThreadStarted } from "@colloquy/machine";
import { runSchedule } from "../../arbitraries/run-schedule.ts";
import type { Schedule } from "../../arbitraries/schedule.ts";
import type { Trace } from "../../arbitraries/trace.ts";

/** Formats a conversation for a reader: one line for each event, with the number of its journal entry. */
export const conversationInLines = (options: MachineOptions, schedule: Schedule): readonly string[] => {
  const trace = traceOf(options, schedule);
  if (trace === null) return schedule.moves.map(({ move, ...said }) => `  ${move} ${preview(JSON.stringify(said))}`);
  const { entry } = trace.started;
  return [
    line(String(entry.seq), entry.event),
    ...trace.steps.map(({ event, transition }) =>
      transition.handled
        ? line(String(transition.entry.seq), event)
        : `${line("-", event)}, refused: ${preview(transition.refusal.reason)}`,
    ),
  ];
};

/** Returns the trace; null if the conversation throws. */
const traceOf = (options: MachineOptions, schedule: Schedule): Trace | null => {
  try {
    return runSchedule(conversationMachine(options), schedule);
  } catch {
    return null;
  }
};

const line = (number: string, { type, at: _, ...fields }: Event | ThreadStarted): string =>
  [
    `${number.padStart(3)} ${type}`,
    ...Object.entries(fields)
      .filter(([name]) => name !== "configuration")
      .map(([name, value]) => `${name}=${preview(JSON.stringify(value))}`),
  ].join(" ");

/** Truncates a long text; its beginning is enough for a message. */
const preview = (text = "nothing"): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

/** Unit: UTF-16 units. */
const longest = 100;
