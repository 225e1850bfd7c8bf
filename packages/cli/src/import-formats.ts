import {
  fromChatExchanges,
  fromChatMessages,
  fromLangChainMessages,
  fromModelMessages,
  fromResponseItems,
  fromUiMessages,
  type ImportProblem,
  type Loss,
  toJournal,
} from "@colloquy/interchange";
import type { Entry } from "@colloquy/machine";
import type { RowFormat } from "@colloquy/datasets";
import type { Host, HostedThread } from "@colloquy/host";
import { fromDspySession } from "@colloquy/sessions";
import { reasonOf } from "@colloquy/terminal";
import { type ReadFile, threadsFromDataset } from "./import-dataset.ts";
import { journalFile } from "./journal-files.ts";
import { asCommand, lossLine } from "./message-formats.ts";
import type { OptionValues } from "./options.ts";
import { readTextFile } from "./text-file.ts";

/** A format of files that `import` reads. */
export interface ImportFormat {
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
export interface ImportTarget {
  readonly host: Host;
  /** The id of the thread to make, if the user gave one. */
  readonly under: { readonly threadId?: string };
  /** Whether messages are mended. */
  readonly repair: boolean;
  /** Prints what could not be carried over. */
  readonly report: (line: string) => void;
}

/** The format that `--from` names. @throws Error for an unknown name, and for an option that the format does not take */
export const importFormatNamed = (name: string, options: Pick<OptionValues, "thread" | "repair">): ImportFormat => {
  const format = Object.hasOwn(importFormats, name) ? importFormats[name] : undefined;
  if (format === undefined) throw new Error(`--from is "${name}"; it must be one of: ${names}`);
  for (const option of ["thread", "repair"] as const)
    if (options[option] !== undefined && !format.options.includes(option))
      throw new Error(`--${option} cannot be used with the format ${name}: ${limits[option]}; leave it out`);
  return format;
};

/** The name of the format that a file has, by its members. @throws Error for a file that is not JSON, or of no known format */
export const detectedFormat = (path: string): string => {
  const first = firstValue(readTextFile(path));
  const found = Object.entries(importFormats).find(([, { recognises }]) => recognises(first));
  if (found === undefined) throw new Error(`its format is not recognised; name it with --from: ${names}`);
  return found[0];
};

const limits = {
  thread: "such a file has several threads",
  repair: "it mends messages of other libraries",
} as const;

type Value = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Value =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Recognises a list of which an item has this form. */
const listWith =
  (isItem: (item: Value) => boolean) =>
  (first: unknown): boolean =>
    Array.isArray(first) && first.some((item) => isObject(item) && isItem(item));

/** Whether the content of a message has a part of one of these types. */
const hasPart = ({ content }: Value, types: readonly string[]): boolean =>
  Array.isArray(content) && content.some((part) => isObject(part) && types.includes(String(part["type"])));

const messages = (
  readMessages: (items: unknown, options: { readonly repair: boolean }) => ReturnType<typeof fromChatMessages>,
  recognises: ImportFormat["recognises"],
): ImportFormat => ({
  options: ["thread", "repair"],
  recognises,
  read: async (path, { host, report, repair, under }) => {
    return one(await host.importMessages(reported(readMessages(jsonIn(path), { repair }), report), under));
  },
  journals: (path, { repair, report }) => [
    orThrow(toJournal(reported(readMessages(jsonIn(path), { repair }), report), { threadId: "replayed" })),
  ],
});

const reported = <Read extends { readonly losses: readonly Loss[] }>(
  read: Readable<Read>,
  report: ImportTarget["report"],
): Read => {
  const conversation = orThrow(read);
  for (const loss of conversation.losses) report(lossLine("item", loss));
  return conversation;
};

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
  orThrow(fromChatExchanges(linesOrListIn(path), { repair })).map((conversation) => {
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

const dataset = (from: RowFormat, members: readonly string[]): ImportFormat => ({
  options: [],
  recognises: (first) => isObject(first) && members.every((name) => Object.hasOwn(first, name)),
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
  chat: messages(
    fromChatMessages,
    listWith((item) => "role" in item),
  ),
  "dspy-session": {
    options: ["thread"],
    recognises: (first) => isObject(first) && Array.isArray(first["turns"]),
    read: async (path, { host, report, under }) => {
      const session = fromDspySession(jsonIn(path), { at: Date.now() });
      if ("left" in session) throw new Error(session.left);
      for (const loss of session.right.losses) report(`not carried: ${loss}`);
      for (const [option, value] of Object.entries(session.right.options))
        report(`not carried: ${option} ${JSON.stringify(value)}: a thread has no such option; give it to session()`);
      return one(await host.importJournal(session.right.saved.journal, { threadId: "new", ...under }));
    },
  },
  sft: dataset("sft", ["messages"]),
  dpo: dataset("dpo", ["input", "preferred_output"]),
  trl: dataset("trl", ["prompt"]),
};

/** The types of LangChain's messages, which no other format has. */
const langChainTypes = new Set<unknown>(["human", "ai", "system", "tool", "generic", "chat", "AIMessageChunk"]);

const names = Object.keys(importFormats).join(", ");

const one = ({ id }: HostedThread): ReadFile => ({ ids: [id], failures: 0 });

const entriesIn = (path: string): readonly Entry[] => {
  const file = journalFile(path);
  if ("entries" in file) return file.entries;
  throw new Error(`it can't be read: ${file.problem}`);
};

const linesOrListIn = (path: string): unknown => {
  const text = readTextFile(path);
  if (Array.isArray(firstValue(text))) return jsonIn(path);
  return text.split("\n").flatMap((line, index): unknown[] => {
    if (line.trim() === "") return [];
    try {
      return [JSON.parse(line)];
    } catch {
      throw new Error(`line ${index + 1} is not JSON: ${JSON.stringify(line.slice(0, 60))}`);
    }
  });
};

const firstValue = (text: string): unknown => {
  const lines = text.split("\n");
  const index = lines.findIndex((line) => line.trim() !== "");
  const line = lines[index] ?? "";
  for (const each of [line, text])
    try {
      return JSON.parse(each);
    } catch {
      continue;
    }
  throw new Error(`it can't be read: line ${index + 1} is not JSON: ${JSON.stringify(line.slice(0, 60))}`);
};

const jsonIn = (path: string): unknown => {
  const text = readTextFile(path);
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new Error(`it holds no JSON: ${reasonOf(thrown)}`, { cause: thrown });
  }
};
