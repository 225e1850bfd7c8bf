/** A small program with a screen: an entered line says what it does. */
import { runScreen, themeNamed } from "../../../src/terminal/index.ts";
import type { ScreenPort } from "../../../src/terminal/index.ts";
import { ScriptedConversation } from "./scripted-conversation.ts";

const conversation = new ScriptedConversation();
conversation.status = `idle ${process.env["RUN"] ?? ""}`;
let port: ScreenPort | null = null;

const commands: Record<string, (rest: string) => void> = {
  /** Streams deltas of four characters at 1,000 a second, in paragraphs, and prints the processor time. */
  stream: (rest) => void stream(Number(rest)),
  /** Prints a line once nothing would wake the process. */
  idle: () => {
    const look = setInterval(() => {
      if (process.getActiveResourcesInfo().includes("Timeout")) return;
      clearInterval(look);
      conversation.finish("no timer");
      conversation.changed();
    }, 200).unref();
  },
  pid: () => conversation.finish(`pid of ${process.env["RUN"]}=${process.pid}.`),
  throw: () => {
    throw new Error("thrown by a key");
  },
  later: () =>
    void setTimeout(() => {
      throw new Error("nobody caught this");
    }),
  exit: (rest) => process.exit(Number(rest)),
  suspend: () => void port?.suspend(() => console.log("the editor has the terminal")),
  view: () => {
    conversation.view = {
      title: "a view",
      show: ({ rows }) => ({ lines: Array.from({ length: rows }, (_, row) => [{ text: `row ${row}`, roles: [] }]) }),
      press: () => ({}),
    };
  },
  copy: (rest) => conversation.finish(`copied: ${port?.copy("c".repeat(Number(rest)))}`),
};

const stream = async (deltas: number): Promise<void> => {
  const before = yardsticks();
  const cpu = process.cpuUsage();
  const begunAt = performance.now();
  let text = "";
  for (let delta = 0; delta < deltas; delta++) {
    const due = begunAt + delta;
    if (due > performance.now()) await new Promise((resolve) => setTimeout(resolve, due - performance.now()));
    text += delta % 100 === 99 ? ".\n\n" : "word";
    const paragraphs = text.split("\n\n");
    text = paragraphs.pop() ?? "";
    if (paragraphs.length > 0) conversation.finish(...paragraphs, "");
    conversation.open = [text];
    conversation.changed();
  }
  const { user, system } = process.cpuUsage(cpu);
  // The median from both ends: a busy machine slows the stream as much.
  const yardstick = [...before, ...yardsticks()].toSorted((one, other) => one - other)[3] ?? 0;
  conversation.open = [];
  conversation.finish(`streamed ${deltas} deltas, cpu ${Math.ceil((user + system) / yardstick)} yardsticks`);
  conversation.changed();
};

const yardsticks = (): readonly number[] => Array.from({ length: 3 }, yardstickCpu);

/** Measures the CPU time of a fixed piece of work: it cuts a text into characters, as drawing does. */
const yardstickCpu = (): number => {
  const text = Array.from({ length: 20_000 }, (_, number) => `word ${number % 2000}`).join(" ");
  const before = process.cpuUsage();
  let length = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) length += segment.length;
  const { user, system } = process.cpuUsage(before);
  if (length !== text.length) throw new Error(`${length} of ${text.length} characters were cut`);
  return user + system;
};

conversation.onKey = (key) => {
  if (key.type === "key" && key.name === "ctrl+d") return conversation.end();
  if (key.type === "key" && key.name === "ctrl+z") {
    conversation.status = "was stopped";
    return port?.stop();
  }
  if (key.type === "key" && key.name === "escape") conversation.view = null;
  if (key.type === "key" && key.name === "enter") {
    const [name = "", ...rest] = conversation.input.split(" ");
    conversation.input = "";
    const command = commands[name];
    if (command === undefined) conversation.finish(`asked ${name} ${rest.join(" ").length}`);
    else command(rest.join(" "));
  } else conversation.typeInto(key);
  if (key.type === "key") conversation.status = `idle, last key ${key.name}`;
  if (key.type === "paste") conversation.status = `pasted ${key.text.length}`;
  return undefined;
};

if (process.env["ENDS_ON_SIGTERM"] === "1") process.once("SIGTERM", conversation.end);

await runScreen({
  conversation: (given) => {
    port = given;
    return conversation;
  },
  input: process.stdin,
  output: process.stdout,
  theme: themeNamed("dark"),
});
console.log("ended");
