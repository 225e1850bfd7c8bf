import {
  type AskHandle,
  declarationsOf,
  type Host,
  type LlmOutcome,
  type Store,
  tool,
  type Tool,
} from "@colloquy/host";
import {
  type CallLlm,
  conversationMachine,
  type Entry,
  type State,
  textOf,
  toArray,
  type ToolDeclaration,
  turnNumbered,
} from "@colloquy/machine";
import { decodeJournal, describeDecodeError } from "@colloquy/machine/journal";
import fc from "fast-check";
import * as Either from "fp-ts/lib/Either.js";
import { asksIn } from "../evidence/asks-in.ts";
import { LawBroken, checkedParameters, type HostLawRun } from "../evidence/law-broken.ts";
import type { Drawn } from "../../arbitraries/values.ts";
import { foldedUnder, type Testbed, type HostUnderTest, onTestbed } from "./host-under-test.ts";

/** The acts of several processes on one thread, after all of them ended. */
export interface SharedThreadRun {
  /** The id of each ask, once, however often it was asked. */
  readonly asked: readonly string[];
  /**
   * Further asks whose askers were notified that no answer follows: withdrawn, superseded, returned, or of a turn that
   * failed or was cancelled. Default: none.
   */
  readonly unanswered?: readonly string[];
  /** The results of the askers, one for each time that an asker got the result of a turn. */
  readonly answered: readonly { readonly askId: string; readonly turn: number; readonly text: string }[];
  /** The journal, as the store has it. */
  readonly stored: readonly unknown[];
  /** The idempotency key of each call of a tool's function, in any process. Default: none. */
  readonly ran?: readonly string[];
  /** The declarations of the tools, for the recovery of each. Default: none. */
  readonly tools?: readonly ToolDeclaration[];
}

/**
 * R3: processes on one store lose, repeat and duplicate nothing. The journal is one, without a gap. Each ask was
 * accepted once and is answered by one turn, and its asker got that turn's answer. A tool that must not run again ran
 * at most once for a call. No call has a result of a function that never ran.
 */
export const lawSharedThread = (run: SharedThreadRun): void => {
  const { asked, unanswered = [], answered, stored, ran = [], tools = [] } = run;
  const entries = decoded(stored);
  const state = folded(entries);
  requireTakenOnce(entries, [...asked, ...unanswered]);
  const turns = turnsOfAsks(state);
  for (const askId of asked) requireAnswered(askId, turns.get(askId) ?? []);
  for (const askId of unanswered) requireUnanswered(askId, state, turns.get(askId) ?? []);
  for (const each of answered) requireResult(each, state, turns.get(each.askId) ?? []);
  const answeredIds = new Set(answered.map(({ askId }) => askId));
  for (const askId of asked) {
    if (!answeredIds.has(askId)) throw broken(`${askId} was answered, and its asker had no result`);
  }
  requireRuns(entries, ran, tools);
};

const broken = (words: string): LawBroken => new LawBroken("R3", words);

const decoded = (stored: readonly unknown[]): readonly Entry[] => {
  const entries = decodeJournal(stored);
  if (Either.isLeft(entries)) throw broken(`the journal can't be read: ${describeDecodeError(entries.left)}`);
  return entries.right;
};

/** Returns the state; null if nothing was ever journalled. */
const folded = (entries: readonly Entry[]): State | null => {
  const wrong = entries.find(({ seq }, index) => seq !== index);
  if (wrong !== undefined) throw broken(`entry ${wrong.seq} stands in the wrong place`);
  return entries.length === 0 ? null : foldedUnder("R3", entries);
};

const requireTakenOnce = (entries: readonly Entry[], asked: readonly string[]): void => {
  const known = new Set(asked);
  const taken = new Set<string>();
  for (const { seq, event } of entries) {
    if (event.type !== "ask.received") continue;
    const { askId } = event;
    if (!known.has(askId)) throw broken(`${askId} was accepted, but was never asked`);
    if (taken.has(askId)) throw broken(`entry ${seq} takes ${askId} a second time`);
    taken.add(askId);
  }
};

/** Returns the turns of each ask; null means a place that is not a turn. */
const turnsOfAsks = (state: State | null): ReadonlyMap<string, readonly (number | null)[]> => {
  const turns = new Map<string, (number | null)[]>();
  for (const { askId, place, turn } of asksIn(state))
    turns.set(askId, [...(turns.get(askId) ?? []), place === "turn" ? turn : null]);
  return turns;
};

const requireAnswered = (askId: string, turns: readonly (number | null)[]): void => {
  if (turns.length === 0) throw broken(`${askId} is lost: no turn answers it`);
  if (turns.length > 1) throw broken(`${askId} is answered ${turns.length} times, by turns ${turns.join(", ")}`);
  if (turns[0] === null) throw broken(`${askId} waits or was dropped, and should have been answered`);
};

const requireUnanswered = (askId: string, state: State | null, turns: readonly (number | null)[]): void => {
  if (turns.length !== 1) throw broken(`${askId} should stand in one place, and stands in ${turns.length}`);
  const turn = state === null || turns[0] == null ? undefined : turnNumbered(state, turns[0]);
  if (turn?.outcome.status === "completed")
    throw broken(`${askId} is answered by turn ${turn.number}, and its asker was told that no answer comes`);
};

const requireResult = (
  { askId, turn, text }: SharedThreadRun["answered"][number],
  state: State | null,
  turns: readonly (number | null)[],
): void => {
  if (state === null || !turns.includes(turn))
    throw broken(`${askId} is answered by turn ${turns[0] ?? "none"}, and its asker had the result of turn ${turn}`);
  const { answer, messages } = turnNumbered(state, turn) ?? { answer: null, messages: null };
  const answered = messages === null ? undefined : toArray(messages).find(({ id }) => id === answer);
  const is = answered === undefined ? "" : textOf(answered);
  if (is !== text)
    throw broken(`${askId} had the result ${JSON.stringify(text)}, and its turn says ${JSON.stringify(is)}`);
};

const requireRuns = (entries: readonly Entry[], ran: readonly string[], tools: readonly ToolDeclaration[]): void => {
  const names = namesOfCalls(entries);
  const single = new Set(
    tools
      .filter(({ recovery = "interrupted" }) => recovery === "once" || recovery === "interrupted")
      .map(({ name }) => name),
  );
  const runs = new Map<string, number>();
  for (const key of ran) runs.set(key, (runs.get(key) ?? 0) + 1);
  for (const [key, times] of runs) {
    if (times > 1 && single.has(names.get(key) ?? ""))
      throw broken(`the call ${key}, whose tool is not to be run again, ran ${times} times`);
  }
  if (tools.length === 0) return;
  for (const { event } of entries) {
    if (event.type !== "tool.completed") continue;
    const key = event.effectId.replace(/#\d+$/u, "#1");
    if (!runs.has(key)) throw broken(`the call ${key} has a result, and its tool never ran`);
  }
};

/** Returns the tool of each call that a journal requests, by its idempotency key. */
const namesOfCalls = (entries: readonly Entry[]): ReadonlyMap<string, string> =>
  new Map(
    entries.flatMap(({ event }) => {
      if (event.type !== "llm.completed") return [];
      const step = event.effectId.replace(/#\d+$/u, "");
      return (event.reply.toolCalls ?? []).map(({ name }, position) => [`${step}.${position}#1`, name] as const);
    }),
  );

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
      lawSharedThread(await onTestbed(subject, "R3", (testbed) => played(testbed, all)));
    }),
    checkedParameters("checkSharedThread", run, 20),
  );

type Happening = Drawn<typeof happenings>;

const host = fc.constantFrom(0 as const, 1 as const);

const happenings = fc.oneof(
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

const played = async (testbed: Testbed, all: readonly Happening[]): Promise<SharedThreadRun> => {
  const ran: string[] = [];
  const open = (store: Store): Host => hostOn(testbed, store, ran);
  const processes = [processOf(testbed.store, open), processOf(testbed.store, open)] as const;
  const handles: AskHandle[] = [];
  const ask = (at: Host, index: number): void => {
    const handle = at.ask(`question ${index}`, { askId: `ask-${index}` });
    handle.catch(() => undefined);
    handles.push(handle);
  };
  let asks = 0;
  for (const now of all) {
    if (now.type === "wait") {
      await testbed.sleep(now.ms);
      continue;
    }
    const process = processes[now.host];
    if (now.type === "ask") ask(process.host, now.again && asks > 0 ? asks : (asks += 1));
    else if (now.type === "stand") process.stand();
    else if (now.type === "goOn") process.goOn();
    else {
      // The old host drops its asks; they are asked again.
      const { host: old } = process;
      process.host = open(testbed.store);
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
  const stored = await testbed.store.read("default");
  await testbed.store.close();
  const asked = Array.from({ length: asks }, (_, index) => `ask-${index + 1}`);
  return { asked, answered, stored, ran, tools: declarationsOf([act([], async () => {})]) };
};

const processOf = (inner: Store, open: (store: Store) => Host): Process => {
  const { store, stand, goOn } = stoppable(inner);
  return { host: open(store), stand, goOn };
};

const hostOn = ({ open, sleep }: Testbed, store: Store, ran: string[]): Host => {
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
