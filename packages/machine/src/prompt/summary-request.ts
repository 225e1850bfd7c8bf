import { toArray } from "../thread/chunks.ts";
import { messageFromDraft } from "../thread/draft.ts";
import type { ContentPart, Message } from "../thread/message.ts";
import { toolCallsOf, toolResultOf } from "../thread/message.ts";
import { turnOf } from "../thread/path.ts";
import type { Thread } from "../thread/thread.ts";
import type { Turn } from "../thread/turn.ts";
import type { SummaryWanted } from "./policy.ts";
import { summaryLines } from "./summary-message.ts";

/**
 * The prompt that asks a model for a summary: the instruction as its system message, then what it is to read, as
 * DSPy's ConversationalAgent gives it: the earlier summaries, and of each turn the input, the output and the tool use.
 *
 * @param upTo the newest summary that may be among the earlier ones.
 */
export const summaryRequest = (
  thread: Thread,
  { covers, earlier }: SummaryWanted,
  instruction: string,
  upTo: number,
): readonly Message[] => {
  const lines = summaryLines(thread, earlier === null ? null : { ...earlier, upTo });
  const within = earlier !== null && earlier.from === covers.from;
  const turns = transcripts(thread, within ? earlier.to + 1 : covers.from, covers.to);
  const content = `Earlier summaries:\n${lines}\n\n${turns.join("\n\n")}`;
  return [
    messageFromDraft("summary.s", { role: "system", content: instruction }),
    messageFromDraft("summary.0", { role: "user", content }),
  ];
};

/** A text of a transcript that is longer is shown by its head and tail. Unit: UTF-16 units. */
export const longestTranscriptText = 8_000;

const transcripts = (thread: Thread, from: number, to: number): readonly string[] => {
  const turns: string[] = [];
  let beginning = to === 0;
  for (let turn = turnOf(thread, to); turn !== undefined && turn.number >= from; turn = turnOf(thread, turn.parent)) {
    turns.push(transcriptOf(`Turn ${turn.number}${endedEarly(turn)}`, toArray(turn.messages)));
    beginning = turn.parent === 0;
  }
  if (from === 0 && beginning && thread.seed.length > 0) turns.push(transcriptOf("Before turn 1", thread.seed));
  return turns.reverse();
};

const endedEarly = ({ outcome: { status } }: Turn): string => (status === "completed" ? "" : ` (${status})`);

const transcriptOf = (title: string, messages: readonly Message[]): string => {
  const toolUse = messages.flatMap((message) => [
    ...toolCallsOf(message).map(({ name, arguments: written }) => `${name}(${clipped(written)})`),
    ...resultsOf(message),
  ]);
  return [
    title,
    `Input:\n${said(messages, (role) => role !== "assistant")}`,
    `Output:\n${said(messages, (role) => role === "assistant")}`,
    `Tool use:\n${toolUse.join("\n") || "None"}`,
  ].join("\n");
};

const resultsOf = (message: Message): readonly string[] => {
  const result = toolResultOf(message);
  return result === undefined ? [] : [`-> ${result.name} (${result.outcome}): ${clipped(inText(result.content))}`];
};

const said = (messages: readonly Message[], who: (role: Message["role"]) => boolean): string =>
  messages
    .filter(({ role }) => role !== "tool" && who(role))
    .map(({ parts }) => clipped(inText(parts.filter(isContent))))
    .filter((text) => text !== "")
    .join("\n") || "None";

const isContent = (part: Message["parts"][number]): part is ContentPart =>
  part.type === "text" || part.type === "data" || part.type === "image" || part.type === "opaque";

const inText = (content: readonly ContentPart[]): string =>
  content
    .map((part) => {
      switch (part.type) {
        case "text":
          return part.text;
        case "data":
          return `${part.field}: ${typeof part.value === "string" ? part.value : JSON.stringify(part.value)}`;
        case "image":
          return "[image]";
        case "opaque":
          return "[attachment]";
      }
    })
    .join("\n");

const clipped = (text: string): string => {
  if (text.length <= longestTranscriptText) return text;
  const half = longestTranscriptText / 2;
  return `${text.slice(0, half).toWellFormed()}\n[…]\n${text.slice(-half).toWellFormed()}`;
};
