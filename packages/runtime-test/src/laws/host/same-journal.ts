import { declarationsOf, type Host, type HostOptions, type LlmOutcome, tool, type Tool } from "@colloquy/host";
import { type CallLlm, conversationMachine, type Entry } from "@colloquy/machine";
import fc from "fast-check";
import { type Drawn, recordOf } from "../../arbitraries/values.ts";
import { differenceOf, LawBroken, checkedParameters, type HostLawRun } from "../evidence/law-broken.ts";
import { withoutTimes } from "./recovery.ts";

/**
 * R4: one script gives the same journal on every runtime, apart from times, if it fixes the order of simultaneous
 * events. The journals agree entry by entry, with the same ids, decisions and prompts.
 *
 * @param journals the journals that the runtimes wrote, by the name of each; two or more.
 */
export const lawSameJournal = (journals: Readonly<Record<string, readonly Entry[]>>): void => {
  const [first, ...others] = Object.entries(journals);
  if (first === undefined || others.length === 0) throw new RangeError("R4 is about two runtimes or more");
  const [name, expected] = first;
  for (const [other, journal] of others) {
    for (let seq = 0; seq < Math.max(expected.length, journal.length); seq++) {
      const difference = differenceOf(withoutTimes(expected[seq]), withoutTimes(journal[seq]));
      if (difference !== null)
        throw new LawBroken("R4", `entry ${seq} of ${other} is not the one of ${name}: ${difference}`);
    }
  }
};

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
    { ...checkedParameters("checkSameJournal", run, 20), timeout: 20_000 },
  );

const calls = recordOf({ name: fc.constantFrom("read", "read", "write", "nobody's"), fails: fc.boolean() });

type Call = Drawn<typeof calls>;

/** `order` has the positions of the calls, in the order in which they answer. */
const rounds = fc
  .array(calls, { minLength: 1, maxLength: 4 })
  .chain((drawn) =>
    fc
      .shuffledSubarray([...drawn.keys()], { minLength: drawn.length })
      .map((order) => ({ calls: drawn.map(onlyOneWrites), order })),
  );

/** Lets only one call of a round write: a script does not fix the order in which two such calls start. */
function onlyOneWrites(call: Call, index: number, all: readonly Call[]): Call {
  const isSecond = call.name === "write" && all.findIndex(({ name }) => name === "write") < index;
  return isSecond ? { ...call, name: "read" } : call;
}

const turns = recordOf({
  rounds: fc.array(rounds, { maxLength: 2 }),
  ends: fc.constantFrom("answer", "answer", "failure"),
});

type Turn = Drawn<typeof turns>;

const scripts = fc.array(turns, { minLength: 1, maxLength: 4 });

const threadId = "script";

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
