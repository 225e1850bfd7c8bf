// A weather agent: `pnpm start`. In a terminal it is a conversation; from a pipe it reads a question a line; without
// input it asks itself three. The thread is in SQLite, and the next run continues it.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { parseArgs } from "node:util";
import {
  converse,
  converseOnScreen,
  endingOf,
  named,
  Printer,
  suitsScreen,
  wantsColour,
  wrapped,
} from "@colloquy/cli/terminal";
import { createHost, sqliteStore, type Store, systemClock } from "@colloquy/runtime-node";
import { isoDate, todayOf, weekdayOf } from "./calendar.ts";
import { weatherOptions, weatherSystem } from "./agent.ts";
import { chooseModel } from "./model.ts";
import { demonstration, lastThread, nextThread } from "./threads.ts";
import { weatherTools } from "./tools.ts";

const help = `A weather agent: ask it about the weather in some dozens of cities. All of its weather is made up.

  --store FILE    where the threads are kept (default: .colloquy/weather.db)
  --thread ID     the thread to continue or begin (default: the one used last)
  --new           begin a new thread
  --journal       print the journal of the thread as JSON lines, and end: a recording
  --pace MS       between two words of the rule-based model (default: 30 in a terminal, else 0)

It talks to the model that OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL name, else to a rule-based one. From a pipe,
the exit code is 1 where a question or a command came to an error.
`;

const main = async (): Promise<void> => {
  const { values } = parseArgs({ options });
  if (values.help) {
    console.log(help);
    return;
  }
  mkdirSync(dirname(values.store), { recursive: true });
  const store = sqliteStore({ path: values.store });
  try {
    const threadId = values.thread ?? (values.new ? await nextThread(store) : undefined);
    if (values.journal) await printJournal(store, threadId ?? (await lastThread(store)));
    else await talk(store, threadId, millisecondsOf(values.pace));
  } finally {
    await store.close();
  }
};

const options = {
  help: { type: "boolean", default: false },
  store: { type: "string", default: ".colloquy/weather.db" },
  thread: { type: "string" },
  new: { type: "boolean", default: false },
  journal: { type: "boolean", default: false },
  pace: { type: "string" },
} as const;

const printJournal = async (store: Store, threadId: string): Promise<void> => {
  const printer = new Printer(process.stdout);
  for (const entry of await store.read(threadId)) printer.json(entry);
};

const talk = async (store: Store, threadId: string | undefined, pace: number | undefined): Promise<void> => {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const model = await chooseModel(process.env, pace ?? (isTerminal ? 30 : 0), systemClock);
  // Printed before it waits for input: a pipe may stay open and empty.
  say(model.about);
  const today = todayOf(systemClock);
  say(`all of its weather is made up, for a demonstration; today is ${weekdayOf(today)}, ${isoDate(today)}`);
  if (isTerminal) for (const text of firstSteps) say(text);
  const isDemonstration = !isTerminal && !(await hasInput(process.stdin));
  const host = createHost({
    llm: model.llm,
    store,
    machine: weatherOptions,
    tools: weatherTools(systemClock),
    system: weatherSystem,
  });
  const signal = endingOf(process);
  if (isDemonstration) console.log("there is no input, so this is a demonstration; in a terminal it is a conversation");
  try {
    const conversation = {
      host,
      threadId: threadId ?? (isDemonstration ? demonstration : await lastThread(store)),
      input: isDemonstration ? Readable.from(questions) : process.stdin,
      output: process.stdout,
      signal,
      newThreadId: () => nextThread(store),
    };
    if (isTerminal && suitsScreen(process.stdout, process.env))
      return await onScreen({ ...conversation, environment: process.env });
    const colour = wantsColour(isTerminal, process.env);
    const { failures } = await converse({ ...conversation, isTerminal, colour });
    if (!isTerminal && (failures > 0 || signal.aborted)) process.exitCode = 1;
  } finally {
    await host.close();
    await model.close();
  }
};

/** Converses on the screen, then says how the conversation is continued. */
const onScreen = async (conversation: Parameters<typeof converseOnScreen>[0]): Promise<void> => {
  let last = conversation.threadId;
  await converseOnScreen({ ...conversation, turnedTo: (id) => void (last = id) });
  say(`the same command with --thread ${named(last)} continues this conversation`);
};

const firstSteps = [
  "Ask, for example: Is it raining in Oslo? Or: Compare Lima and Rome tomorrow.",
  "Then try /explain (what the model sees, and why), /undo, /fork, /tree; /help lists all.",
];

/** Prints lines, broken between words. */
const say = (text: string): void => {
  const columns = (process.stdout.isTTY && process.stdout.columns) || Infinity;
  for (const each of text.split("\n"))
    for (const row of wrapped([{ text: each, roles: [] }], columns)) console.log(row.map((span) => span.text).join(""));
};

const millisecondsOf = (text: string | undefined): number | undefined => {
  if (text === undefined || /^\d+$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new RangeError(`--pace is "${text}"; give a whole number of milliseconds`);
};

/** Returns whether a stream has any input, without consuming it. */
const hasInput = (input: Readable): Promise<boolean> =>
  new Promise((resolve, reject) => {
    input.once("error", reject);
    input.once("readable", () => {
      const first: unknown = input.read();
      if (first !== null) input.unshift(first);
      resolve(first !== null);
    });
  });

const questions = ["What's the weather in Seattle?\n", "What about tomorrow?\n", "Should I bring an umbrella?\n"];

try {
  await main();
} catch (thrown) {
  new Printer(process.stderr).line(`weather: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  process.exitCode = 1;
}
