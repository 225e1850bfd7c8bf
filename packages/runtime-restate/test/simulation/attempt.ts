import { CancelledError, TerminalError } from "@restatedev/restate-sdk";
import { DoublePromise, type Outcome, type Waiter } from "./promise.ts";
import {
  cancelled,
  type HandlerName,
  type Invocation,
  type RunningAttempt,
  type Server,
  valueIn,
  type VirtualWorker,
} from "./invocation.ts";

/** One attempt at an invocation. It replays earlier commands, and must repeat them exactly. */
export class Attempt implements RunningAttempt, Waiter {
  readonly invocation: Invocation;
  readonly worker: VirtualWorker;
  readonly completed: AbortController = new AbortController();
  isDead = false;
  readonly #restate: Server;
  readonly #ready = new Map<string, Outcome<string | undefined>>();
  readonly #begun = new Set<string>();
  /** The invocations that it awaits, by the id of the notification of their outcome. */
  readonly #called = new Map<string, string>();
  #done = 0;
  #heard = 0;
  #drawn = 0;
  #awakeables = 0;
  #wakes: (() => void)[] = [];

  constructor(restate: Server, worker: VirtualWorker, invocation: Invocation) {
    this.#restate = restate;
    this.worker = worker;
    this.invocation = invocation;
    worker.attempts.add(this);
    invocation.attempt = this;
  }

  async run(): Promise<void> {
    const { invocation, worker } = this;
    try {
      const value = await worker.handle(invocation.name, this.#context(), JSON.parse(invocation.input));
      if (this.#restate.strikes(this)) return;
      if (this.#done < invocation.commands.length) this.#fail(`ended before "${invocation.commands[this.#done]}"`);
      this.#end({ value: JSON.stringify(value) });
    } catch (failure) {
      if (this.isDead) return;
      if (!(failure instanceof CancelledError)) this.#fail(`threw ${String(failure)}`);
      this.#end({ failure });
    }
  }

  wake(): void {
    for (const wake of this.#wakes.splice(0)) wake();
  }

  /** Takes one notification after the other until the promise is settled, so that a replay hears the same. */
  async wait<Value>(promise: DoublePromise<Value>): Promise<Value> {
    for (;;) {
      if (this.isDead) return new Promise(() => {});
      const { outcome } = promise;
      if (outcome !== null) {
        if ("failure" in outcome) throw outcome.failure;
        return outcome.value;
      }
      const next = this.invocation.told[this.#heard];
      if (next === undefined) {
        const woken = new Promise<void>((resolve) => this.#wakes.push(resolve));
        promise.begin();
        await woken;
        continue;
      }
      this.#heard += 1;
      this.#ready.set(next.id, next.outcome);
      if (next.id === cancelled) this.#throwCancelled();
    }
  }

  sleep(ms: number): DoublePromise<void> {
    return this.#asked(`sleep ${ms}`, (id) => {
      const { clock } = this.#restate;
      clock.wakeAt(clock.now() + ms, () => this.#tellSelf(id, undefined));
    });
  }

  #throwCancelled(): never {
    for (const [id, called] of this.#called)
      if (!this.#ready.has(id)) this.#command(`cancel ${called}`, () => this.#restate.cancel(called));
    throw new CancelledError();
  }

  #end(outcome: Outcome<string | undefined>): void {
    this.worker.attempts.delete(this);
    this.isDead = true;
    this.#restate.end(this.invocation, outcome);
    this.completed.abort();
  }

  #fail(problem: string): void {
    this.#restate.problems.push(`${this.invocation.name} ${this.invocation.input}: ${problem}`);
  }

  /** Issues a journalled command, unless an earlier attempt did. Returns the id of its notification. */
  #command(does: string, act: (id: string) => void): string {
    const { commands } = this.invocation;
    const id = `c${this.#done}`;
    if (this.#restate.strikes(this)) return id;
    const recorded = commands[this.#done];
    this.#done += 1;
    if (recorded === undefined) {
      commands.push(does);
      act(id);
    } else if (recorded !== does) this.#fail(`journal mismatch: "${does}" in the place of "${recorded}"`);
    return id;
  }

  #promiseOf<Value>(id: string, begin?: () => void): DoublePromise<Value> {
    const look = (): Outcome<Value> | null => {
      const outcome = this.#ready.get(id) ?? null;
      // As in the SDK, the caller vouches for the type.
      return outcome === null || "failure" in outcome ? outcome : { value: valueIn(outcome.value) as Value };
    };
    return new DoublePromise(this, look, begin);
  }

  #asked<Value>(does: string, act: (id: string) => void): DoublePromise<Value> {
    return this.#promiseOf(this.#command(does, act));
  }

  #tellSelf(id: string, value: unknown): void {
    this.#restate.tell(this.invocation.id, id, { value: JSON.stringify(value) });
  }

  /** Reads a value when Restate performs the read. */
  #read<Value>(does: string, read: () => unknown): DoublePromise<Value> {
    return this.#asked(does, (id) => this.#restate.later(2, () => this.#tellSelf(id, read())));
  }

  #run<Value>(label: string, action: () => Value | Promise<Value>): DoublePromise<Value> {
    const id = this.#command(`run ${label}`, () => {});
    return this.#promiseOf(id, () => void this.#execute(id, action));
  }

  async #execute(id: string, action: () => unknown): Promise<void> {
    if (this.#begun.has(id) || this.#restate.strikes(this)) return;
    this.#begun.add(id);
    this.#restate.mayStrikeWithin(40, this);
    try {
      const value = await action();
      if (this.#restate.strikes(this)) return;
      this.#restate.later(2, () => {
        if (!this.isDead) this.#tellSelf(id, value);
      });
    } catch (failure) {
      if (this.isDead) return;
      if (!(failure instanceof TerminalError)) this.#fail(`a step threw ${String(failure)}`);
      this.#restate.tell(this.invocation.id, id, { failure });
    }
  }

  #send(key: string, name: HandlerName, input: unknown, delay = 0) {
    const id = this.#command(`send ${name} ${JSON.stringify(input)} in ${delay}`, (own) =>
      this.#tellSelf(own, this.#restate.send(key, name, input, delay).id),
    );
    return { invocationId: this.#promiseOf<string>(id) };
  }

  #call(key: string, name: HandlerName, input: unknown): DoublePromise<unknown> {
    const restate = this.#restate;
    const id = this.#command(`call ${name} ${JSON.stringify(input)}`, (own) => {
      const called = restate.send(key, name, input);
      this.invocation.calls.set(own, called.id);
      void called.ended.promise.then((outcome) => restate.tell(this.invocation.id, own, outcome));
    });
    const called = this.invocation.calls.get(id);
    if (called !== undefined) this.#called.set(id, called);
    return this.#promiseOf(id);
  }

  /** Returns the next signal of this name that is not taken yet. */
  #signal(name: string): DoublePromise<unknown> {
    const signalled = this.#promiseOf(name);
    return new DoublePromise(this, () => {
      const { outcome } = signalled;
      this.#ready.delete(name);
      return outcome;
    });
  }

  /** The part of a context that the handlers use. */
  #context() {
    const { key } = this.invocation;
    const restate = this.#restate;
    const state = (): Map<string, string> => restate.stateOf(key);
    return {
      key,
      get: (name: string) => this.#read(`get ${name}`, () => valueIn(state().get(name) ?? "null")),
      stateKeys: () => this.#read("keys", () => [...state().keys()]),
      set: (name: string, value: unknown) => {
        const text = JSON.stringify(value);
        this.#command(`set ${name} ${text}`, () => state().set(name, text));
      },
      clear: (name: string) => void this.#command(`clear ${name}`, () => state().delete(name)),
      clearAll: () => void this.#command("clear all", () => state().clear()),
      run: (label: string, action: () => unknown) => this.#run(label, action),
      date: { now: () => this.#run("now", () => restate.clock.now()) },
      rand: { uuidv4: () => `${this.invocation.id} ${(this.#drawn += 1)}` },
      sleep: (ms: number) => this.sleep(ms),
      request: () => ({ attemptCompletedSignal: this.completed.signal }),
      signal: (name: string) => this.#signal(name),
      invocation: (id: string) => ({
        signal: (name: string) => ({
          resolve: (value: unknown) =>
            void this.#command(`signal ${id} ${name}`, () => restate.tell(id, name, { value: JSON.stringify(value) })),
        }),
      }),
      cancel: (id: string) => void this.#command(`cancel ${id}`, () => restate.cancel(id)),
      awakeable: () => {
        const name = `awakeable ${(this.#awakeables += 1)}`;
        return { id: `${this.invocation.id}/${name}`, promise: this.#promiseOf(name) };
      },
      resolveAwakeable: (id: string, value: unknown) => {
        const [invocation = "", name = ""] = id.split("/");
        this.#command(`resolve ${id}`, () => restate.tell(invocation, name, { value: JSON.stringify(value) }));
      },
      objectClient: (_: unknown, other: string) => clientOf((name, input) => this.#call(other, name, input)),
      objectSendClient: (_: unknown, other: string) =>
        clientOf((name, input, options) => this.#send(other, name, input, options?.getOpts().delay)),
    };
  }
}

type Options = { readonly getOpts: () => { readonly delay?: number } } | undefined;

const clientOf = (call: (name: HandlerName, input: unknown, options: Options) => unknown): object =>
  new Proxy(
    {},
    // Its members are the names of handlers.
    { get: (_, name) => (input: unknown, options: Options) => call(name as HandlerName, input, options) },
  );
