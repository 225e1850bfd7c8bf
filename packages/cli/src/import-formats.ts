import {
  fromChatExchanges,
  fromChatMessages,
  fromLangChainMessages,
  fromModelMessages,
  fromResponseItems,
  fromUiMessages,
  type Imported,
  type ImportProblem,
  toJournal,
} from "@colloquy/interchange";
import type { Entry } from "@colloquy/machine";
import { type RowFormat, importDataset } from "@colloquy/sessions/datasets";
import type { Host, HostedThread } from "@colloquy/host";
import { fromDspySession } from "@colloquy/sessions";
import { journalFile, jsonValues } from "./journal-files.ts";
import { asCommand, lossLine } from "./written-formats.ts";
import type { OptionValues } from "./options.ts";
import { readTextFile } from "./text-file.ts";

interface ImportFormat {
  /** Options that have a meaning for this format. */
  readonly options: readonly ("thread" | "repair")[];
  /**
   * Returns whether a file has this format.
   *
   * @param first The first JSON value of the file: its first line if that is JSON by itself, else the whole file.
   */
  readonly recognises: (first: unknown) => boolean;
  /** Makes the threads of a file. Rejects with the reason if there are none. */
  readonly read: (path: string, into: ImportTarget) => Promise<ReadFile>;
  /** Returns the conversations of a file as journals that can be replayed. Absent for formats without model calls. */
  readonly journals?: (path: string, from: ReplaySource) => readonly (readonly Entry[])[];
}

type ReplaySource = Pick<ImportTarget, "repair" | "report"> & {
  /** Whether the journals list the tools that were offered, so that a replay compares them. */
  readonly withTools: boolean;
};

/** The host that gets the threads, and how it makes them. */
interface ImportTarget {
  readonly host: Host;
  /** The id of the thread to make, if the user gave one. */
  readonly under: { readonly threadId?: string };
  readonly repair: boolean;
  /** Prints what a thread cannot contain. */
  readonly report: (line: string) => void;
}

/** Returns the format that `--from` names. @throws Error for a name that is not one of `formats`, and for an option that the format does not take */
export const importFormatNamed = (
  name: string,
  options: Pick<OptionValues, "thread" | "repair">,
  formats: readonly string[] = formatNames,
): ImportFormat => {
  const format = formats.includes(name) ? importFormats[name] : undefined;
  if (format === undefined) throw new Error(`--from is "${name}"; it must be one of: ${formats.join(", ")}`);
  for (const option of ["thread", "repair"] as const)
    if (options[option] !== undefined && !format.options.includes(option))
      throw new Error(`--${option} cannot be used with the format ${name}: ${limits[option]}; leave it out`);
  return format;
};

/**
 * Returns the name of the format that a file has, by its members.
 *
 * @throws Error for a file that is not JSON, or of an unknown format, and if it has requests only.
 */
export const detectedFormat = (path: string, formats: readonly string[] = formatNames): string => {
  const first = firstValue(readTextFile(path));
  const found = formats.find((name) => importFormats[name]?.recognises(first));
  if (found !== undefined) return found;
  if (isRequest(first))
    throw new Error(
      `these are requests without responses; log both, as {"request": …, "response": …}, or give --from chat if each is a whole conversation`,
    );
  if (isDspyProgram(first)) throw new Error(dspyProgramProblem);
  throw new Error(`its format is not recognised; name it with --from: ${formats.join(", ")}`);
};

const limits = {
  thread: "such a file has several threads",
  repair: "it mends messages of other libraries",
} as const;

type Value = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Value =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const listWith =
  (isItem: (item: Value) => boolean) =>
  (first: unknown): boolean => {
    const items = messagesOf(first);
    return Array.isArray(items) && items.some((item) => isObject(item) && isItem(item));
  };

/** Returns the messages of a row `{ messages }`, or the value itself. */
const messagesOf = (value: unknown): unknown =>
  isObject(value) && Array.isArray(value["messages"]) ? value["messages"] : value;

/** Returns whether a value is the body of a request to a model. */
const isRequest = (value: unknown): boolean =>
  isObject(value) &&
  (isRequest(value["request"]) || (Array.isArray(value["messages"]) && ("model" in value || "temperature" in value)));

const hasPart = ({ content }: Value, types: readonly string[]): boolean =>
  Array.isArray(content) && content.some((part) => isObject(part) && types.includes(String(part["type"])));

type ReadMessages = (items: unknown, options: { readonly repair: boolean }) => ReturnType<typeof fromChatMessages>;

const messages = (readMessages: ReadMessages, recognises: ImportFormat["recognises"]): ImportFormat => ({
  options: ["thread", "repair"],
  recognises,
  read: async (path, { host, under, ...from }) => {
    const conversations = conversationsIn(path, readMessages, from);
    if (conversations.length > 1 && under.threadId !== undefined)
      throw new Error(
        `--thread names one thread, and the file has ${conversations.length} conversations; import them under their own ids`,
      );
    const ids: string[] = [];
    for (const conversation of conversations) ids.push((await host.importMessages(conversation, under)).id);
    return { ids, failures: 0 };
  },
  journals: (path, from) =>
    conversationsIn(path, readMessages, from).map((conversation) =>
      orThrow(toJournal(conversation, { threadId: "replayed" })),
    ),
});

/** Returns the conversations of a file: a list of messages or a row with one, as the whole file or one a line. */
const conversationsIn = (
  path: string,
  readMessages: ReadMessages,
  { repair, report }: Pick<ImportTarget, "repair" | "report">,
): readonly Imported[] =>
  jsonValues(readTextFile(path)).map(({ value, line }) => {
    const place = line === null ? "" : `line ${line}: `;
    const items = messagesOf(value);
    const read = readMessages(items, { repair });
    if ("left" in read) throw new Error(`${place}${asCommand(read.left.reason)}`);
    for (const field of items === value || !isObject(value) ? [] : Object.keys(value))
      if (field !== "messages") report(`not carried: ${place}the field "${field}": a thread has no place for it`);
    for (const loss of read.right.losses) report(lossLine("item", loss, place));
    return read.right;
  });

type Readable<Value> = { readonly left: ImportProblem } | { readonly right: Value };

const orThrow = <Value>(read: Readable<Value>): Value => {
  if ("left" in read) throw new Error(asCommand(read.left.reason));
  return read.right;
};

/** Returns the journals of logged requests and responses, in JSON lines or as a list. */
const journalsOfExchanges = (
  path: string,
  { repair, report, withTools }: ReplaySource,
): readonly (readonly Entry[])[] =>
  orThrow(fromChatExchanges(itemsIn(path), { repair })).map((conversation) => {
    const { losses, remarks, tools, at } = conversation;
    for (const loss of losses) report(lossLine("item", loss));
    for (const remark of remarks) report(remark);
    return orThrow(
      toJournal(conversation, {
        threadId: "replayed",
        at: at ?? Date.now(),
        ...(withTools ? { tools } : {}),
      }),
    );
  });

const dataset = (from: RowFormat, recognises: (row: Value) => boolean): ImportFormat => ({
  options: [],
  recognises: (first) => isObject(first) && recognises(first),
  read: (path, { host, report }) => threadsFromDataset(host, path, from, report),
});

/** The formats by the values of `--from`. A file has the first of them that recognises it. */
const importFormats: Readonly<Record<string, ImportFormat>> = {
  journal: {
    options: ["thread"],
    recognises: (first) => isObject(first) && "seq" in first && isObject(first["event"]),
    read: async (path, { host, under }) => {
      return one(await host.importJournal(entriesIn(path), under));
    },
    journals: (path) => [entriesIn(path)],
  },
  exchanges: {
    options: ["repair"],
    recognises: (first) =>
      [first].flat().some((each) => isObject(each) && isObject(each["request"]) && "response" in each),
    read: async (path, { host, ...from }) => {
      const ids: string[] = [];
      for (const entries of journalsOfExchanges(path, { ...from, withTools: true }))
        ids.push((await host.importJournal(entries, { threadId: "new" })).id);
      return { ids, failures: 0 };
    },
    journals: journalsOfExchanges,
  },
  langchain: messages(
    fromLangChainMessages,
    listWith((item) => item["lc"] === 1 || (langChainTypes.has(item["type"]) && ("data" in item || "content" in item))),
  ),
  ui: messages(
    fromUiMessages,
    listWith((item) => Array.isArray(item["parts"])),
  ),
  responses: messages(
    fromResponseItems,
    listWith((item) => typeof item["type"] === "string" || hasPart(item, ["input_text", "input_image", "output_text"])),
  ),
  model: messages(
    fromModelMessages,
    listWith((item) => "providerOptions" in item || hasPart(item, ["tool-call", "tool-result", "reasoning", "image"])),
  ),
  "dspy-session": {
    options: ["thread"],
    recognises: (first) => isObject(first) && Array.isArray(first["turns"]),
    read: async (path, { host, report, under }) => {
      const session = fromDspySession(jsonValues(readTextFile(path))[0]?.value, { at: Date.now() });
      if ("left" in session) throw new Error(session.left);
      for (const loss of session.right.losses) report(`not carried: ${loss}`);
      for (const [option, value] of Object.entries(session.right.options))
        report(`not carried: ${option} ${JSON.stringify(value)}: a thread has no such option; give it to session()`);
      return one(await host.importJournal(session.right.saved.journal, { threadId: "new", ...under }));
    },
  },
  sft: dataset(
    "sft",
    (row) => listWith((item) => "content" in item || "tool_calls" in item)(row["messages"]) && !isRequest(row),
  ),
  dpo: dataset("dpo", (row) => "input" in row && "preferred_output" in row),
  trl: dataset("trl", (row) => "prompt" in row),
  // After the data sets, whose rows also contain chat messages.
  chat: messages(fromChatMessages, (first) => listWith((item) => "role" in item)(first) && !isRequest(first)),
};

/** The types of LangChain's messages, which no other format has. */
const langChainTypes = new Set<unknown>(["human", "ai", "system", "tool", "generic", "chat", "AIMessageChunk"]);

const formatNames = Object.keys(importFormats);

export const replayedFormats: readonly string[] = formatNames.filter(
  (name) => importFormats[name]?.journals !== undefined,
);

const one = ({ id }: HostedThread): ReadFile => ({ ids: [id], failures: 0 });

const entriesIn = (path: string): readonly Entry[] => {
  const file = journalFile(path);
  if ("entries" in file) return file.entries;
  throw new Error(`it can't be read: ${file.problem}`);
};

/** Returns the items of a list, as the whole file or one a line. */
const itemsIn = (path: string): unknown => {
  const values = jsonValues(readTextFile(path)).map(({ value }) => value);
  return values.length === 1 && Array.isArray(values[0]) ? values[0] : values;
};

/** Returns the first line if that is JSON by itself, else the whole file. The error names the line that is not JSON. */
const firstValue = (text: string): unknown => {
  const line = text.split("\n").find((each) => each.trim() !== "") ?? "";
  try {
    return JSON.parse(line);
  } catch {
    return jsonValues(text)[0]?.value;
  }
};

interface ReadFile {
  readonly ids: readonly string[];
  /** The number of lines that could not be read. */
  readonly failures: number;
}

/**
 * Makes a thread of each line of a data set, under drawn ids. Reports each invalid line and continues. A file that is one
 * JSON value over several lines is one row.
 */
const threadsFromDataset = async (
  host: Host,
  path: string,
  from: RowFormat,
  report: (line: string) => void,
): Promise<ReadFile> => {
  const { threads, problems, losses } = importDataset(rowsIn(readTextFile(path)), { from, at: Date.now() });
  if (threads.length + problems.length === 0) throw new Error("the file is empty");
  for (const { line, reason } of problems) report(`line ${line}: ${reason}`);
  for (const { line, what, why } of losses) report(`not carried: line ${line}: ${what}: ${why}`);
  const ids: string[] = [];
  for (const { entries } of threads) ids.push((await host.importJournal(entries, { threadId: "new" })).id);
  return { ids, failures: problems.length };
};

const rowsIn = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
};

/** Returns whether a JSON value is a program that DSPy saved: a predictor, or several by their names. */
export const isDspyProgram = (value: unknown): boolean =>
  isPredictor(value) || (typeof value === "object" && value !== null && Object.values(value).some(isPredictor));

export const dspyProgramProblem =
  "this is a program that DSPy saved (instructions, fields and demos), neither a conversation nor an agent of Colloquy; write its instructions and fields into an agent file as `signature`";

const isPredictor = (value: unknown): boolean =>
  isRecord(value) &&
  Array.isArray(value["demos"]) &&
  isRecord(value["signature"]) &&
  ("instructions" in value["signature"] || "fields" in value["signature"]);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
