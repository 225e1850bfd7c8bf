import {
  type AskHandle,
  declarationsOf,
  type Host,
  type LlmOutcome,
  type Store,
  tool,
  type Tool,
} from "@colloquy/host";
import { type CallLlm, conversationMachine, textOf } from "@colloquy/machine";
import fc from "fast-check";
import { type Ground, type HostLawRun, type HostUnderTest, onGround, parametersOf } from "./host-under-test.ts";
import { lawSharedThread, type SharedThreadRun } from "./shared-thread.ts";

/**
 * Checks that a host and a store keep R3 (`lawSharedThread`). Two hosts, like two processes, ask on one thread of one
 * store. Each stops now and then, past its lease and in the middle of any call of the store, and continues. Each is
 * closed and replaced by another one; asks are repeated under their ids.
 *
 * @param run 20 conversations by default.
 */
export const checkSharedThread = async (subject: HostUnderTest = {}, run: HostLawRun = {}): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.array(happenings, { minLength: 1, maxLength: 25 }), async (all) => {
      lawSharedThread(await onGround(subject, "R3", (ground) => played(ground, all)));
    }),
    parametersOf("checkSharedThread", run, 20),
  );

type Happening =
  | { readonly type: "ask"; readonly host: 0 | 1; readonly again: boolean }
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "stand" | "goOn" | "replace"; readonly host: 0 | 1 };

const host = fc.constantFrom(0 as const, 1 as const);

const happenings: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("ask" as const), host, again: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("wait" as const), ms: fc.nat({ max: 150 }) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom("stand" as const, "goOn" as const), host }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("replace" as const), host }) },
);

/** A process: its host, and the switches of its store. */
interface Process {
  host: Host;
  readonly stand: () => void;
  readonly goOn: () => void;
}

const played = async (ground: Ground, all: readonly Happening[]): Promise<SharedThreadRun> => {
  const ran: string[] = [];
  const open = (store: Store): Host => hostOn(ground, store, ran);
  const processes = [processOf(ground.store, open), processOf(ground.store, open)] as const;
  const handles: AskHandle[] = [];
  const ask = (at: Host, index: number): void => {
    const handle = at.ask(`question ${index}`, { askId: `ask-${index}` });
    handle.catch(() => undefined);
    handles.push(handle);
  };
  let asks = 0;
  for (const now of all) {
    if (now.type === "wait") {
      await ground.sleep(now.ms);
      continue;
    }
    const process = processes[now.host];
    if (now.type === "ask") ask(process.host, now.again && asks > 0 ? asks : (asks += 1));
    else if (now.type === "stand") process.stand();
    else if (now.type === "goOn") process.goOn();
    else {
      // The old host drops its asks; they are asked again.
      const { host: old } = process;
      process.host = open(ground.store);
      process.goOn();
      await old.close();
    }
  }
  for (const { goOn } of processes) goOn();
  for (let index = 1; index <= asks; index++) ask(processes[index % 2 === 0 ? 0 : 1].host, index);
  const answered = (await Promise.allSettled(handles)).flatMap((end) =>
    end.status === "fulfilled" ? [{ askId: end.value.askId, turn: end.value.turn, text: end.value.text }] : [],
  );
  for (const process of processes) await process.host.close();
  const stored = await ground.store.read("default");
  await ground.store.close();
  const asked = Array.from({ length: asks }, (_, index) => `ask-${index + 1}`);
  return { asked, answered, stored, ran, tools: declarationsOf([act([], async () => {})]) };
};

const processOf = (inner: Store, open: (store: Store) => Host): Process => {
  const { store, stand, goOn } = stoppable(inner);
  return { host: open(store), stand, goOn };
};

const hostOn = ({ open, sleep }: Ground, store: Store, ran: string[]): Host => {
  const tools = [act(ran, () => sleep(60))];
  return open({
    store,
    leaseTtlMs: 100,
    idleMs: 30,
    pollMs: 5,
    machine: conversationMachine({ tools: declarationsOf(tools), overlap: { type: "queue", max: 1_000 } }),
    tools,
    llm: async (call) => {
      await sleep(20);
      return outcomeOf(call);
    },
  });
};

const act = (ran: string[], doing: () => Promise<void>): Tool =>
  tool({
    name: "act",
    description: "Does something that must not be done twice.",
    input: { jsonSchema: { type: "object" } },
    recovery: "once",
    run: async (_, { idempotencyKey }) => {
      ran.push(idempotencyKey);
      await doing();
      return `done: ${idempotencyKey}`;
    },
  });

/** Calls a tool for every other question. The answer names its question. */
const outcomeOf = ({ messages, step }: CallLlm): LlmOutcome => {
  const question = messages.findLast(({ role }) => role === "user");
  const text = question === undefined ? "" : textOf(question);
  return step === 1 && /[02468]$/u.test(text)
    ? { type: "completed", reply: { toolCalls: [{ id: null, name: "act", arguments: "{}" }] }, finishReason: "stop" }
    : { type: "completed", reply: { content: `The answer to ${text}.` }, finishReason: "stop" };
};

/** Returns a store as one process sees it, which can be stopped, like a suspended process, and continued. */
const stoppable = (inner: Store): Pick<Process, "stand" | "goOn"> & { readonly store: Store } => {
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const through = <Port extends object>(port: Port): Port =>
    // The target is a new object: a proxy of a frozen one could not return other members. All members are those of the
    // port.
    new Proxy({} as Port, {
      get: (_, name) => {
        const member: unknown = Reflect.get(port, name);
        // The store is closed when everything is over.
        if (name === "close") return async () => {};
        if (typeof member !== "function")
          return typeof member === "object" && member !== null ? through(member) : member;
        return async (...given: readonly unknown[]): Promise<unknown> => {
          await gate.promise;
          return Reflect.apply(member, port, given);
        };
      },
    });
  return {
    stand: () => {
      gate.resolve();
      gate = Promise.withResolvers();
    },
    goOn: () => gate.resolve(),
    store: through(inner),
  };
};
