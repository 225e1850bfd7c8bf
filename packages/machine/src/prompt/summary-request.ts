import { contentText, type Message, toolCallsOf, toolResultOf } from "../thread/message.ts";
import { messageFromDraft } from "../thread/make-message.ts";
import { isBefore, type Thread, turnOf } from "../thread/thread.ts";
import { toArray } from "../thread/chunks.ts";
import type { Turn } from "../thread/turn.ts";
import { type Cut, withFields } from "./cut.ts";
import type { SummaryTask } from "./policy.ts";
import { isLeftOut } from "./unit.ts";
import { summaryLines } from "./summary-message.ts";

/**
 * Returns the prompt that asks a model for a summary. The instruction is its system message. Then come the earlier
 * summaries and, for each turn, the input, the output and the tool use, as in DSPy's ConversationalAgent. Its wording
 * is part of the journal format, since digests depend on it.
 *
 * @param newest the newest summary that may be among the earlier ones.
 */
export const summaryRequest = (
  thread: Thread,
  task: SummaryTask,
  instruction: string,
  newest: number,
): readonly Message[] => {
  const { covers, earlier } = task;
  const lines = summaryLines(thread, earlier === null ? null : { ...earlier, upTo: newest }, showingOf(task));
  const within = earlier !== null && earlier.from === covers.from;
  const turns = transcripts(thread, task, within ? earlier.to + 1 : covers.from);
  return requestOf(instruction, lines, turns);
};

/** Returns a request that is smaller than any real one: for a turn without content. */
export const leastRequest = (instruction: string): readonly Message[] =>
  requestOf(instruction, "", [transcript("Turn 1", "", "", "")]);

const requestOf = (instruction: string, lines: string, turns: readonly string[]): readonly Message[] => [
  messageFromDraft("summary.s", { role: "system", content: instruction }),
  messageFromDraft("summary.0", { role: "user", content: `Earlier summaries:\n${lines}\n\n${turns.join("\n\n")}` }),
];

/** A longer text of a transcript is shown by its head and tail. Unit: UTF-16 units. */
export const longestTranscriptText = 8_000;

const showingOf = ({ interrupted, fields }: SummaryTask): Pick<Cut, "interrupted" | "fields"> => ({
  interrupted: interrupted ?? "keep",
  ...(fields === undefined ? {} : { fields }),
});

const transcripts = (thread: Thread, task: SummaryTask, from: number): readonly string[] => {
  const turns: string[] = [];
  const { to } = task.covers;
  let beginning = to === 0;
  for (let turn = turnOf(thread, to); turn !== undefined && turn.number >= from; turn = turnOf(thread, turn.parent)) {
    if (!isLeftOut(turn, showingOf(task)))
      turns.push(transcriptOf(`Turn ${turn.number}${endedEarly(turn)}`, toArray(turn.messages), task));
    beginning = turn.parent === 0;
  }
  if (from === 0 && beginning && thread.seed.length > 0) turns.push(transcriptOf("Before turn 1", thread.seed, task));
  return turns.reverse();
};

const endedEarly = ({ outcome: { status } }: Turn): string => (status === "completed" ? "" : ` (${status})`);

const transcriptOf = (title: string, said: readonly Message[], task: SummaryTask): string => {
  const { fields, characters = longestTranscriptText } = task;
  const messages = fields === undefined ? said : said.flatMap((message) => withFields(message, fields) ?? []);
  const toolUse = messages.flatMap((message) => [
    ...toolCallsOf(message).map(({ name, arguments: written }) => `${name}(${clipped(written, characters)})`),
    ...resultsOf(message, characters),
  ]);
  return transcript(
    title,
    textsOf(messages, (role) => role !== "assistant", characters),
    textsOf(messages, (role) => role === "assistant", characters),
    toolUse.join("\n") || "None",
  );
};

const transcript = (title: string, input: string, output: string, toolUse: string): string =>
  [title, `Input:\n${input}`, `Output:\n${output}`, `Tool use:\n${toolUse}`].join("\n");

const resultsOf = (message: Message, characters: number): readonly string[] => {
  const result = toolResultOf(message);
  return result === undefined
    ? []
    : [`-> ${result.name} (${result.outcome}): ${clipped(contentText(result.content), characters)}`];
};

const textsOf = (messages: readonly Message[], who: (role: Message["role"]) => boolean, characters: number): string =>
  messages
    .filter(({ role }) => role !== "tool" && who(role))
    .map(({ parts }) => clipped(contentText(parts), characters))
    .filter((text) => text !== "")
    .join("\n") || "None";

const clipped = (text: string, characters: number): string => {
  if (text.length <= characters) return text;
  const half = Math.floor(characters / 2);
  return `${text.slice(0, half).toWellFormed()}\n[…]\n${text.slice(-half).toWellFormed()}`;
};

/** Returns whether a summary covers a turn, directly or through the older summary that it was made from. */
export const isCoveredBySummary = (thread: Thread, turn: number, { covers, earlier }: SummaryTask): boolean =>
  turn >= Math.min(covers.from, earlier?.from ?? covers.from) && isBefore(thread, turn, covers.to);
