import { declarationsOf, type Host, type HostOptions, type LlmOutcome, tool, type Tool } from "@colloquy/host";
import { type CallLlm, conversationMachine, type Entry } from "@colloquy/machine";
import fc from "fast-check";
import { type HostLawRun, parametersOf } from "./host-under-test.ts";
import { lawSameJournal } from "./same-journal.ts";
import { recordOf } from "../../arbitraries/record.ts";

/** The options that a law sets for a host; a runtime adds the rest: its clock, its store. */
export type ScriptedParts = Pick<HostOptions, "machine" | "llm" | "tools" | "ids" | "observers">;

/** Makes a host of a runtime, on an empty store. */
export type MakeScriptedHost = (parts: ScriptedParts) => Host | Promise<Host>;

/**
 * Checks that two runtimes or more keep R4 (`lawSameJournal`), on random scripts. The scripts have asks, replies,
 * failures, and tools of which several are called at once. They answer in an order that the script fixes.
 *
 * ```ts
 * await checkSameJournal({
 * memory: (parts) => createHost({ ...parts, clock: runningClock(), store: memoryStore({ clock }) }),
 * mine: (parts) => myHost(parts),
 * });
 * ```
 *
 * @param run 20 scripts by default.
 */
export const checkSameJournal = async (
  hosts: Readonly<Record<string, MakeScriptedHost>>,
  run: HostLawRun = {},
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(scripts, async (script) => {
      const journals: Record<string, readonly Entry[]> = {};
      for (const [name, make] of Object.entries(hosts)) journals[name] = await played(make, script);
      lawSameJournal(journals);
    }),
    // A tool that is never run blocks the ones after it.
    { ...parametersOf("checkSameJournal", run, 20), timeout: 20_000 },
  );

interface Round {
  readonly calls: readonly { readonly name: "read" | "write" | "nobody's"; readonly fails: boolean }[];
  /** Positions of calls, in the order in which they answer. */
  readonly order: readonly number[];
}

interface Turn {
  readonly rounds: readonly Round[];
  readonly ends: "answer" | "failure";
}

const rounds: fc.Arbitrary<Round> = fc
  .array(
    recordOf({
      name: fc.constantFrom("read" as const, "read" as const, "write" as const, "nobody's" as const),
      fails: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .chain((calls) =>
    fc
      .shuffledSubarray([...calls.keys()], { minLength: calls.length })
      .map((order): Round => ({ calls: calls.map(onlyOneWrites), order })),
  );

/**
 * Replaces all but the first writing call of a round. A writing call is journalled when it starts, and a script does
 * not fix the order of two such starts.
 */
const onlyOneWrites: (call: Round["calls"][number], index: number, all: Round["calls"]) => Round["calls"][number] = (
  call,
  index,
  all,
) =>
  call.name === "write" && all.findIndex(({ name }) => name === "write") < index ? { ...call, name: "read" } : call;

const scripts: fc.Arbitrary<readonly Turn[]> = fc.array(
  recordOf({
    rounds: fc.array(rounds, { maxLength: 2 }),
    ends: fc.constantFrom("answer" as const, "answer" as const, "failure" as const),
  }),
  { minLength: 1, maxLength: 4 },
);

const threadId = "script";

/** Plays a script on one runtime, and returns its journal. */
const played = async (make: MakeScriptedHost, script: readonly Turn[]): Promise<readonly Entry[]> => {
  const order = new Order(script);
  const tools = toolsIn(order, script);
  let drawn = 0;
  const host = await make({
    machine: conversationMachine({ tools: declarationsOf(tools) }),
    tools,
    llm: async (call) => outcomeOf(call, script),
    ids: { draw: (kind) => `${kind}-${(drawn += 1)}` },
    observers: [{ entry: (entry) => order.appended(entry) }],
  });
  for (const [index] of script.entries()) {
    const handle = host.ask(`Question ${index + 1}.`, { threadId, askId: `ask-${index + 1}` });
    // The journal has the outcome of a turn.
    await handle.catch(() => undefined);
  }
  const journal = await host.thread(threadId).exportJournal();
  await host.close();
  return journal;
};

const outcomeOf = ({ turn, step }: CallLlm, script: readonly Turn[]): LlmOutcome => {
  const { rounds: all = [], ends = "answer" } = script[turn - 1] ?? {};
  const round = all[step - 1];
  if (round !== undefined) {
    const toolCalls = round.calls.map(({ name }, position) => ({
      id: "the same",
      name,
      arguments: JSON.stringify({ turn, step, position }),
    }));
    return { type: "completed", reply: { toolCalls }, finishReason: "tool_calls" };
  }
  if (ends === "failure")
    return { type: "failed", failure: { kind: "bad_request", message: "It is too long.", retryable: false } };
  return {
    type: "completed",
    reply: { content: `Answer ${turn}.` },
    finishReason: "stop",
    usage: { inputTokens: 10 * turn, outputTokens: 2 },
  };
};

const toolsIn = (order: Order, script: readonly Turn[]): readonly Tool[] =>
  (["read", "write"] as const).map((name) =>
    tool({
      name,
      description: `It is there to ${name}.`,
      input: { jsonSchema: { type: "object" } },
      recovery: name === "write" ? "once" : "rerun",
      run: async (_, { turn, step, callId }) => {
        const position = Number(callId.split(".").at(-1));
        await order.turnOf(turn, step, position);
        if (script[turn - 1]?.rounds[step - 1]?.calls[position]?.fails === true) throw new Error(`${callId} is broken`);
        return { [name]: callId };
      },
    }),
  );

/** Makes the calls of a round answer one after the other: each when the previous answer is journalled. */
class Order {
  readonly #script: readonly Turn[];
  readonly #events = new Map<string, PromiseWithResolvers<void>>();

  constructor(script: readonly Turn[]) {
    this.#script = script;
  }

  /** Resolves when all calls of the round have started, and those that answer before this one have answered. */
  async turnOf(turn: number, step: number, position: number): Promise<void> {
    const { calls = [], order = [] } = this.#script[turn - 1]?.rounds[step - 1] ?? {};
    const real = order.filter((each) => calls[each]?.name !== "nobody's");
    this.#of(`begun ${turn}.${step}.${position}`).resolve();
    await Promise.all(real.map((each) => this.#of(`begun ${turn}.${step}.${each}`).promise));
    const before = real[real.indexOf(position) - 1];
    if (before !== undefined) await this.#of(`answered ${turn}.${step}.${before}`).promise;
  }

  appended({ event }: Entry): void {
    if (event.type !== "tool.completed" && event.type !== "tool.failed") return;
    const [callId] = event.effectId.slice(`${threadId}/`.length).split("#");
    this.#of(`answered ${callId}`).resolve();
  }

  #of(name: string): PromiseWithResolvers<void> {
    const event = this.#events.get(name) ?? Promise.withResolvers<void>();
    this.#events.set(name, event);
    return event;
  }
}
