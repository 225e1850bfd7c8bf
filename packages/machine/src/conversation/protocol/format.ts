import type { ConversationData } from "./data.ts";
import { firstFormat, journalFormat } from "./entry.ts";
import type { Event, ThreadConfigured } from "./event.ts";
import type { State } from "./state.ts";

/** The format with which asks for an output came. */
export const outputFormat = 2;

/** The format that the journal of a thread has. */
export const formatOf = ({ format }: Pick<ConversationData, "format">): number => format ?? firstFormat;

/** The format that a journal must have for an event. */
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

/** Why an event does not go into a journal of the thread's format, with the way out; null where it does. */
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
 * The event by which the journal of a thread rises to the format that another event needs, to be sent before it; null where
 * it has that format. Its configuration is that of the thread. From then on a version that is too old to read the journal says so in words.
 */
export const raiseFormatFor = ({ context }: State, event: Event): ThreadConfigured | null => {
  const format = neededFormat(event);
  return format <= formatOf(context)
    ? null
    : { type: "thread.configured", at: event.at, format, configuration: context.configuration };
};
