import type { ConversationData } from "./data.ts";
import { firstFormat, journalFormat } from "./entry.ts";
import type { Event, ThreadConfigured } from "./event.ts";
import type { State } from "./state.ts";

/** The first format with asks for an output. */
export const outputFormat = 2;

/** Returns the format of a thread's journal. */
export const formatOf = ({ format }: Pick<ConversationData, "format">): number => format ?? firstFormat;

/** Returns the format that an event needs. */
export const neededFormat = (event: Event): number => {
  switch (event.type) {
    case "round.appended":
    case "output.accepted":
    case "output.refused":
      return 2;
    case "ask.received":
      return event.from === undefined && event.tools === undefined && event.output === undefined ? firstFormat : 2;
    default:
      return firstFormat;
  }
};

/**
 * Returns why an event does not fit the format of the thread's journal, and how to raise it. Returns null if it fits.
 */
export const problemOfFormat = (data: ConversationData, event: Event): string | null => {
  const format = formatOf(data);
  if (event.type === "thread.configured" && event.format !== undefined) {
    if (event.format < format) return `the journal has format ${format}, and never goes back to ${event.format}`;
    if (event.format > journalFormat)
      return `this version writes journals up to format ${journalFormat}; format ${event.format} needs a newer one`;
  }
  const needed = neededFormat(event);
  return needed <= format
    ? null
    : `"${event.type}" needs format ${needed} of the journal, and this thread has format ${format}: send "thread.configured" with format ${needed} first, which raiseFormatFor makes`;
};

/**
 * Creates the event that raises a journal to the format that another event needs; send it first. Returns null if the
 * format is high enough. It repeats the thread's configuration. Versions that are too old then refuse the journal with
 * an error that says so.
 */
export const raiseFormatFor = ({ context }: State, event: Event): ThreadConfigured | null => {
  const format = neededFormat(event);
  return format <= formatOf(context)
    ? null
    : { type: "thread.configured", at: event.at, format, configuration: context.configuration };
};
