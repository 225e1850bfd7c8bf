// Runs in a tab: a host on the one thread, with the proof's server as its model and tools, and functions that the proof
// calls.
import { type AskHandle, createHost, type Host, type HostedThread, type LlmHandler } from "@colloquy/host";
import { messagesOf, outstanding } from "@colloquy/machine";
import { indexedDbStore, randomIds, systemClock } from "@colloquy/runtime-browser";

import type { Through } from "../../kit/store-methods.ts";
import { calledBy, machineOf, toolsOf } from "../story/script.ts";
import { Fuse, type WatchedStore, watchedStore } from "../story/watched.ts";
import {
  type CallBody,
  type Ending,
  type Report,
  reporter,
  type Seen,
  type Tab,
  type TabOptions,
  threadId,
} from "./talk.ts";

class OpenTab implements Tab {
  #tab = 0;
  #host: Host | null = null;
  #store: WatchedStore | null = null;
  #underWay = 0;
  #stallsAsItAppends = false;

  open({ tab, database, leaseTtlMs, snapshotEvery }: TabOptions): void {
    this.#tab = tab;
    const inner = indexedDbStore({ name: database });
    const through: Through = async (call) => {
      this.#underWay += 1;
      return call().finally(() => (this.#underWay -= 1));
    };
    const watched = watchedStore(inner, {
      fuse: new Fuse(null),
      record: () => undefined,
      sleep: async () => undefined,
      outside: through,
      append: (write) => {
        if (this.#stallsAsItAppends && this.#underWay === 0) this.#standStill();
        return write();
      },
    });
    const store = Object.assign(watched, inner.parts && { parts: counted(inner.parts, through) });
    const tools = toolsOf(async (name, { idempotencyKey: id, signal }) => {
      const response = await this.#call({ what: name, id, called: null }, signal);
      return response.text();
    });
    this.#store = store;
    this.#host = createHost({
      machine: machineOf(),
      tools,
      store,
      llm: this.#model,
      clock: systemClock,
      ids: randomIds,
      leaseTtlMs,
      snapshotEvery,
      pollMs: 20,
      idleMs: 100,
      ...(store.parts === undefined ? {} : { partsMs: 20 }),
      observers: [{ approval: ({ id }) => this.#report({ type: "approval", tab, id }) }],
      onObserverError: (error, where) => this.#report({ type: "trouble", tab, words: `${where}: ${String(error)}` }),
    });
  }

  ask(askId: string, input: string, how: "ask" | "steer"): void {
    void this.#watch(this.#thread[how](input, { askId }));
  }

  cancel(): void {
    this.#unlessRefused(this.#thread.cancel("enough"));
  }

  decide(id: string, approves: boolean): void {
    this.#unlessRefused(approves ? this.#thread.approve(id) : this.#thread.deny(id));
  }

  async approvals(): Promise<readonly string[]> {
    return (await this.#thread.approvals()).map(({ id }) => id);
  }

  resume(): void {
    this.#opened.start();
  }

  async see(): Promise<Seen> {
    const state = await this.#thread.state();
    return {
      messages: JSON.stringify(state === null ? [] : messagesOf(state)),
      journal: await this.#thread.exportJournal(),
    };
  }

  async rest(): Promise<void> {
    const isBusy = async (): Promise<boolean> =>
      ((await this.#store?.inbox?.unanswered(threadId)) ?? []).length > 0 ||
      (await this.#thread.look((state) => outstanding(state).length > 0 || state.context.queue.length > 0)) === true;
    while (await isBusy()) {
      this.#unlessRefused(this.#thread.resume());
      await new Promise((resolve) => systemClock.wakeAt(systemClock.now() + 20, () => resolve(null)));
    }
  }

  stall(when: "now" | "append"): void {
    if (when === "append") this.#stallsAsItAppends = true;
    // A stall within a transaction would block all tabs.
    else if (this.#underWay > 0) systemClock.wakeAt(systemClock.now() + 1, () => this.stall(when));
    else this.#standStill();
  }

  #standStill(): void {
    this.#stallsAsItAppends = false;
    const request = new XMLHttpRequest();
    request.open("POST", "/stall", false);
    request.send();
  }

  get #opened(): Host {
    if (this.#host === null) throw new Error("the tab was not opened");
    return this.#host;
  }

  get #thread(): HostedThread {
    return this.#opened.thread(threadId);
  }

  readonly #model: LlmHandler = async (call, { onDelta, signal }) => {
    const response = await this.#call({ what: "model", id: call.id, called: calledBy(call) }, signal);
    const pieces = new PieceReader(onDelta);
    const decoder = new TextDecoder();
    if (response.body !== null)
      for await (const bytes of response.body) pieces.read(decoder.decode(bytes, { stream: true }));
    if (pieces.outcome === null) throw new Error(`the reply to ${call.id} was cut off`);
    return pieces.outcome;
  };

  #call(body: Omit<CallBody, "tab" | "seq">, signal: AbortSignal): Promise<Response> {
    const whole: CallBody = { ...body, tab: this.#tab, seq: this.#store?.newestSeq ?? -1 };
    return fetch("/call", { method: "POST", body: JSON.stringify(whole), signal });
  }

  async #watch(handle: AskHandle): Promise<void> {
    const { askId } = handle;
    const tab = this.#tab;
    try {
      for await (const part of handle) this.#report({ type: "shown", tab, askId, part });
    } catch {
      // Awaiting the handle rejects with the same error.
    }
    this.#report({ type: "ended", tab, askId, ending: await endingOf(handle) });
  }

  /** Ignores a refusal of an action that comes too late, or that another tab has already done. */
  #unlessRefused(doing: Promise<unknown>): void {
    const tab = this.#tab;
    doing.catch((error: unknown) => {
      const name = error instanceof Error ? error.name : "";
      if (!passing.includes(name)) this.#report({ type: "trouble", tab, words: String(error) });
    });
  }

  #report(report: Report): void {
    // The proof defined it before the page loaded.
    (Reflect.get(globalThis, reporter) as (report: Report) => void)(report);
  }
}

const passing: readonly string[] = ["EventRefusedError", "ThreadHeldError", "ThreadUnknownError", "LeaseLostError"];

const endingOf = async (handle: AskHandle): Promise<Ending> => {
  try {
    const { turn, text } = await handle;
    return { type: "answered", turn, text };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { type: "failed", name, message };
  }
};

/** Reads the server's stream: one line for each piece of text, and one for the outcome. */
class PieceReader {
  outcome: Awaited<ReturnType<LlmHandler>> | null = null;
  readonly #onDelta: Parameters<LlmHandler>[1]["onDelta"];
  #rest = "";

  constructor(onDelta: Parameters<LlmHandler>[1]["onDelta"]) {
    this.#onDelta = onDelta;
  }

  read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      // The proof's own server writes these lines.
      const piece = JSON.parse(line) as { readonly text: string } | { readonly outcome: PieceReader["outcome"] };
      if ("text" in piece) this.#onDelta({ type: "text", text: piece.text });
      else this.outcome = piece.outcome;
    }
  }
}

Reflect.set(globalThis, "tab", new OpenTab());

/** Counts the calls of a store's parts while they are under way. */
const counted = <Part extends object>(part: Part, through: Through): Part =>
  new Proxy(part, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: readonly unknown[]): Promise<unknown> =>
        through(async () => Reflect.apply(member, target, args) as unknown);
    },
  });
