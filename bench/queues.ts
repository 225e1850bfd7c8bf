// Measures waiting and simultaneous events: twice as many must cost about twice as much.
import type { Host, LlmHandler } from "@colloquy/host";
import { lastTurns } from "@colloquy/machine/policies";
import { benchmarkHost } from "./kit/hosts.ts";
import { byTurns, type Figure, short } from "./kit/measure.ts";
import { toolArguments, toolName, userText } from "./kit/script.ts";
import { lookupMachine } from "./kit/work.ts";

const [few, doublings] = [1_000, 3];
const many = few * 2 ** doublings;

export const benchmark = async (rounds: number): Promise<readonly Figure[]> => [
  await figure("asks that queue, and are answered one by one", askedAtOnce, rounds),
  await figure("messages appended to a thread", (count) => appended(count, instant), rounds),
  await figure("messages appended while a turn is open", (count) => appended(count, silent), rounds),
  await figure("tool calls of one reply", calledAtOnce, rounds),
  await figure("tool calls of a turn that is added by hand", addedByHand, rounds),
];

/** Measures both sizes alternately, each on its own threads, after a warm-up. */
const figure = async (name: string, work: (count: number) => Promise<void>, rounds: number): Promise<Figure> => {
  await work(many);
  const measured = await byTurns(
    rounds,
    1,
    () => work(many),
    () => work(few),
  );
  return {
    name: `a doubling, from ${few} to ${many} ${name}`,
    // The mean of several doublings, since the load of the machine may change one by half.
    value: measured.ratio ** (1 / doublings),
    // Linear work gives 2, quadratic work 4. References to waiting items are copied at each event, and garbage is
    // collected in steps.
    most: 2.7,
    note: `${short(measured.ours / 1000)} ms against ${short(measured.reference / 1000)}`,
  };
};

const askedAtOnce = async (count: number): Promise<void> => {
  const host = hostOf(instant);
  await Promise.all(Array.from({ length: count }, (_, index) => host.ask(userText(index))));
  await host.close();
};

const appended = async (count: number, llm: LlmHandler): Promise<void> => {
  const host = hostOf(llm);
  const thread = host.thread();
  await thread.start();
  if (llm === silent) void thread.ask("Go on.");
  await Promise.all(
    Array.from({ length: count }, (_, index) => thread.append({ role: "user", content: userText(index) })),
  );
  await host.close();
};

const calledAtOnce = async (count: number): Promise<void> => {
  const toolCalls = Array.from({ length: count }, (_, index) => ({
    id: `${index}`,
    name: toolName,
    arguments: toolArguments(1),
  }));
  const host = hostOf(async ({ step }) =>
    step === 1 ? { type: "completed", reply: { toolCalls }, finishReason: "tool_calls" } : done,
  );
  await host.ask("Note them all.");
  await host.close();
};

const addedByHand = async (count: number): Promise<void> => {
  const ids = Array.from({ length: count }, (_, index) => `${index}`);
  const toolCalls = ids.map((id) => ({ id, name: toolName, arguments: toolArguments(1) }));
  const host = hostOf(silent);
  await host
    .thread()
    .addTurn([
      { role: "user", content: "Note them all." },
      { role: "assistant", toolCalls },
      ...ids.map((toolCallId) => ({ role: "tool", toolCallId, content: "noted" }) as const),
    ]);
  await host.close();
};

const done = { type: "completed", reply: { content: "Done." }, finishReason: "stop" } as const;
const instant: LlmHandler = async () => done;
const silent: LlmHandler = () => new Promise(() => {});

/** Makes a host with short prompts, whose cost other benchmarks measure. */
const hostOf = (llm: LlmHandler): Host =>
  benchmarkHost({
    machine: lookupMachine({
      policy: lastTurns(2),
      overlap: { type: "queue", max: 2 * many },
      limits: { toolCalls: 2 * many },
    }),
    llm,
  });
