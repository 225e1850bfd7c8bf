import { type HostedThread, type LlmHandler, type Store, ThreadHeldError } from "@colloquy/host";
import { checkValue, kinds } from "@colloquy/host/store";
import {
  ConfigurationError,
  conversationMachine,
  type ConversationMachine,
  lastTurnOf,
  type Turn,
} from "@colloquy/machine";
import { createHost, memoryStore, reasonOf } from "@colloquy/runtime-node";
import { draftsOf, exchangesGiven, type PlainExchange } from "../program/exchange.ts";
import { marksOf } from "../program/marks.ts";
import type { Program } from "../program/program.ts";
import { sessionTurn } from "../thread/turns.ts";
import { checkOptions } from "./check-options.ts";
import { type Beginning, refuseEarlierParent } from "./earlier-parent.ts";
import { Ground } from "./ground.ts";
import type { AnyOptions } from "./options.ts";
import { policyOf } from "./policy.ts";
import { WaitingCalls } from "./waiting-calls.ts";

/** Makes the model of a session's threads on a ground: the one that runs its program. */
export type HandlerOf = (core: SessionCore, ground: () => Ground) => LlmHandler;

/** What all threads of a session share. */
export class SessionCore {
  readonly options: AnyOptions;
  readonly seed: readonly PlainExchange[];
  readonly machine: ConversationMachine;
  readonly waiting: WaitingCalls = new WaitingCalls();
  #program: Program<never, object>;
  #version: string;
  readonly #handlerOf: HandlerOf;
  readonly #own: Store;
  readonly #grounds = new Map<Store, Map<LlmHandler | undefined, Ground>>();

  /** @throws ConfigurationError for options that are invalid */
  constructor(program: Program<never, object>, options: AnyOptions, handlerOf: HandlerOf) {
    checkOptions(options);
    this.options = options;
    this.seed = exchangesGiven("the seed", options.seed ?? []);
    this.machine = conversationMachine({
      policy: policyOf(options),
      interrupted: "omit",
      retry: { attempts: 1 },
      overlap: options.overlap === "reject" ? { type: "reject" } : { type: "queue", max: mostQueued },
    });
    this.#program = checkedProgram(program);
    this.#version = options.version ?? "1";
    this.#handlerOf = handlerOf;
    this.#own = options.store ?? memoryStore();
  }

  get name(): string {
    return this.options.name;
  }

  /** The program that the next call runs. */
  get program(): Program<never, object> {
    return this.#program;
  }

  get version(): string {
    return this.#version;
  }

  /** From here on calls run another program; those under way end with the one that they began with. */
  swap(program: Program<never, object>, version: string = nextVersion(this.#version)): void {
    checkValue("swap: version", version, kinds.text);
    this.#program = checkedProgram(program);
    this.#version = version;
  }

  /** What the session runs on; within another one, on the store, the model and the options of hosts of that one, where it has none of its own. */
  ground(outer?: Ground): Ground {
    const store = this.options.store ?? outer?.store ?? this.#own;
    const llm = this.options.llm ?? outer?.llm;
    const grounds = this.#grounds.get(store) ?? new Map<LlmHandler | undefined, Ground>();
    this.#grounds.set(store, grounds);
    const ground = grounds.get(llm) ?? this.#groundOn(store, llm, this.options.host ?? outer?.options.host);
    grounds.set(llm, ground);
    return ground;
  }

  /**
   * Has a thread begun, and its metadata say which program it is of: an entry of the journal, where that is another one. It
   * is looked at before each call: a thread may have been deleted since, here or elsewhere, and a program have come back.
   *
   * @param place says from what it hangs, and what else it begins with.
   * @throws ConfigurationError where it was left by a thread that was deleted
   */
  async ready(ground: Ground, thread: HostedThread, { parentCreatedAt, beginning }: Beginning): Promise<void> {
    const program = { program: this.name, version: this.#version };
    await unlessHeld(() => ground.once(thread.id, () => recovered(thread)));
    let state = await thread.state();
    if (state === null) {
      const { metadata, ...rest } = await beginning();
      const seed = this.seed.flatMap(draftsOf);
      if (await ground.begin(thread, { ...rest, seed, metadata: { ...metadata, ...program } })) return;
      state = await thread.state();
    }
    refuseEarlierParent(state, parentCreatedAt);
    const metadata = state?.context.metadata ?? {};
    if (metadata["program"] !== program.program || metadata["version"] !== program.version)
      await unlessHeld(() => thread.setMetadata({ ...metadata, ...program }));
  }

  /** What costs no call, such as an error of `onTurn`. */
  report(error: unknown, where: string): void {
    const { onObserverError } = this.options.host ?? {};
    if (onObserverError === undefined) console.error(`Colloquy: ${where} of "${this.name}" failed: ${reasonOf(error)}`);
    else onObserverError(error, where);
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#grounds.values()].flatMap((grounds) => [...grounds.values()].map((ground) => ground.close())),
    );
  }

  #groundOn(store: Store, llm: LlmHandler | undefined, options: AnyOptions["host"]): Ground {
    const { recovery } = options ?? {};
    const host = createHost({
      ...options,
      // Other programs may share the store.
      recovery: recovery !== false && { ...recovery, metadata: { ...recovery?.metadata, program: this.name } },
      store,
      machine: this.machine,
      llm: this.#handlerOf(this, () => ground),
      hooks: { afterTurn: ({ threadId, turn }) => this.#ended(host.thread(threadId), turn) },
    });
    const ground: Ground = new Ground(
      { ...this.options, ...(options === undefined ? {} : { host: options }) },
      store,
      llm,
      host,
    );
    return ground;
  }

  /** What a turn's end calls for, whoever asked; its calls wait for it. */
  async #ended(thread: HostedThread, turn: Turn): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const { askId } of turn.asks) for (const call of this.waiting.of(thread.id, askId)) call.after(promise);
    const isCompleted = turn.outcome.status === "completed";
    try {
      // As its signature has them.
      if (isCompleted) await this.options.onTurn?.(sessionTurn(turn) as never);
      else await goBack(thread, turn);
    } catch (thrown) {
      this.report(thrown, isCompleted ? "onTurn" : "going back to before a call that failed");
    } finally {
      resolve();
    }
  }
}

const mostQueued = 1_000;

/** A call that began the conversation anew and failed: the conversation is as it was. */
const goBack = async (thread: HostedThread, turn: Turn): Promise<void> => {
  const { replaced } = marksOf(turn);
  if (replaced !== undefined && turn.outcome.status !== "completed") await thread.moveHead(replaced);
};

/** One that began the conversation anew, and goes on after a crash, may fail: then what comes next is behind what was before. */
const recovered = async (thread: HostedThread): Promise<void> => {
  if (await isAnew(thread)) await (await thread.resume()).turn?.catch(() => null);
  const state = await thread.state();
  const head = state === null ? undefined : lastTurnOf(state);
  if (head !== undefined) await goBack(thread, head);
};

/** Where another host holds the thread, that one sees to it. */
const unlessHeld = async (work: () => Promise<unknown>): Promise<void> => {
  try {
    await work();
  } catch (thrown) {
    if (!(thrown instanceof ThreadHeldError)) throw thrown;
  }
};

/** Whether the call that is under way began the conversation anew. */
const isAnew = async (thread: HostedThread): Promise<boolean> => {
  const open = (await thread.state())?.context.open ?? null;
  return open !== null && marksOf(open).replaced !== undefined;
};

const checkedProgram = (program: Program<never, object>): Program<never, object> => {
  // Callers in JavaScript hand in anything.
  const made: unknown = typeof program === "function" ? program : Reflect.get(Object(program), "forward");
  if (typeof made === "function") return program;
  throw new ConfigurationError(
    `session: the program is of type ${typeof program}; it must be a function, or an object with a method "forward"`,
  );
};

/** "2" after "1", and "beta+1" after "beta". */
const nextVersion = (version: string): string => {
  const [, stem = "", count = ""] = /^(.*?)(\d*)$/s.exec(version) ?? [];
  return count === "" ? `${stem}+1` : `${stem}${Number(count) + 1}`;
};
