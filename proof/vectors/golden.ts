import type { Event, MachineOptions, ThreadInput } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { dataOf } from "./machine.ts";
import type { Script, ScriptStep } from "./vector.ts";

const folder = join(import.meta.dirname, "../../packages/machine/test/golden");

/** The golden traces of the machine's own tests, as scripts: their events and their prose, for the machines that they were played on. */
export const goldenScripts = (): readonly Script[] =>
  stories.map(({ name, says, options = {} }) => {
    const { start, steps } = readTrace(readFileSync(join(folder, `${name}.txt`), "utf8"));
    return { profile: "core", name, says, machine: dataOf(options), start, steps };
  });

const readTrace = (text: string): Pick<Script, "start" | "steps"> => {
  const steps: ScriptStep[] = [];
  let start: ThreadInput | undefined;
  for (const block of text.trim().split("\n\n")) {
    const lines = block.split("\n");
    const prose = lines.filter((line) => line.startsWith("# ")).map((line) => line.slice(2));
    const command = lines[lines.indexOf("----") - 1];
    if (command === undefined) continue;
    const { type, ...fields } = readCommand(command);
    // The trace has them from the types of the machine.
    if (type === "thread.started") start = fields as unknown as ThreadInput;
    else
      steps.push({
        ...(prose.length === 0 ? {} : { says: prose.join(" ") }),
        event: { type, ...fields } as unknown as Event,
      });
  }
  if (start === undefined) throw new Error("the trace does not begin with thread.started");
  return { start, steps };
};

/** Reads `type name=JSON name=JSON`. */
const readCommand = (command: string): Readonly<Record<string, unknown>> => {
  const [type, ...words] = command.split(" ");
  const fields: Record<string, unknown> = { type };
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const name = word.slice(0, word.indexOf("="));
    let json = word.slice(name.length + 1);
    while (!isJson(json)) json += ` ${words.shift()}`;
    fields[name] = JSON.parse(json);
  }
  return fields;
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

interface Story {
  readonly name: string;
  readonly says: string;
  readonly options?: MachineOptions;
}

const tools: MachineOptions = { tools: [{ name: "weather" }, { name: "time" }] };
const approved: MachineOptions = {
  tools: [{ name: "delete_file", version: "2", approval: "always" }, { name: "list_files" }],
};

const stories: readonly Story[] = [
  { name: "simple-answer", says: "A question and its answer, twice; a repeated ask and a late answer are refused." },
  {
    name: "parallel-tools",
    says: "Three calls of tools at once, whose results come in another order.",
    options: tools,
  },
  { name: "unknown-tool", says: "The machine itself answers calls of tools that nobody declared.", options: tools },
  { name: "system-change", says: "The system prompt changes from the next call on." },
  { name: "append-in-round", says: "Messages that are appended never come into a round.", options: tools },
  {
    name: "retry",
    says: "A failed call is made again, after a wait with a jitter that is derived from the timer's id.",
    options: { retry: { attempts: 3, baseDelayMs: 1_000, maxDelayMs: 1_500, maxRetryAfterMs: 60_000 } },
  },
  { name: "deadline", says: "A turn ends at its deadline.", options: { ...tools, limits: { deadlineMs: 1_000 } } },
  {
    name: "cancel",
    says: "A turn is cancelled while a model answers, while it waits to try again, and while tools run.",
    options: { ...tools, retry: { baseDelayMs: 100, maxDelayMs: 100 } },
  },
  {
    name: "limits",
    says: "Limits of steps, tool calls and reported tokens end a turn before anything is asked for.",
    options: { ...tools, limits: { steps: 2, toolCalls: 2, tokens: 1_000 } },
  },
  { name: "queue", says: "Asks wait for a turn of their own.", options: { overlap: { type: "queue", max: 2 } } },
  { name: "truncation", says: "Of an answer only what was spoken is kept, never half a character." },
  {
    name: "branches",
    says: "Undo, branches, a checkpoint and an annotation: turns form a tree, and nothing is removed.",
  },
  { name: "window", says: "Only the last turn and the open one are shown.", options: { policy: lastTurns(1) } },
  {
    name: "pins",
    says: "Pinned messages are in every prompt while they are on the path.",
    options: { policy: lastTurns(0), tools: [{ name: "weather" }] },
  },
  {
    name: "interrupted-omitted",
    says: "Turns that were cancelled stay out of prompts.",
    options: { interrupted: "omit" },
  },
  { name: "merge", says: "One turn answers all asks that wait.", options: { overlap: { type: "merge", max: 2 } } },
  { name: "latest", says: "The newest ask supersedes those that wait.", options: { overlap: { type: "latest" } } },
  {
    name: "interrupt",
    says: "An ask cancels the open turn, and is asked next.",
    options: { ...approved, overlap: { type: "interrupt" } },
  },
  {
    name: "steer",
    says: "An ask joins the open turn, whose next prompt shows it.",
    options: { ...approved, overlap: { type: "steer", max: 1 } },
  },
  {
    name: "steer-returned",
    says: "Asks that joined a turn are given back where it ends before it shows them.",
    options: { overlap: { type: "steer", max: 9 }, limits: { steps: 1 } },
  },
  { name: "approvals", says: "A person approves or denies calls of tools.", options: approved },
  { name: "approval-cancelled", says: "A turn is cancelled while a person is asked.", options: approved },
  {
    name: "unknown-outcome",
    says: "A tool had started when its process stopped: a person is asked whether it runs again.",
    options: { tools: [{ name: "pay", recovery: "ask" }] },
  },
  { name: "system-reset", says: "The system prompt that the thread began with comes back; metadata changes." },
  {
    name: "ask-from",
    says: "A turn opens behind another one than the newest.",
    options: { overlap: { type: "queue", max: 1 } },
  },
  {
    name: "caller-tools",
    says: "Tools of the caller: their calls stay outstanding until somebody answers.",
    options: { ...approved, overlap: { type: "reject" } },
  },
  {
    name: "round-appended",
    says: "Whole rounds that were had elsewhere join the thread.",
    options: { ...approved, overlap: { type: "queue", max: 1 } },
  },
  {
    name: "output-repaired",
    says: "An answer that is not what was asked for is asked for again.",
    options: { tools: [{ name: "look" }] },
  },
  { name: "output-not-had", says: "Ways in which an output that was asked for is not had." },
  {
    name: "output-called-off",
    says: "A check is called off, or the turn goes on for asks that joined it.",
    options: { overlap: { type: "steer", max: 2 } },
  },
];
