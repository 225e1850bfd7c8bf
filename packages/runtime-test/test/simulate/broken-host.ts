import {
  type AskHandle,
  type AskPart,
  type AskResult,
  createHost,
  declarationsOf,
  type Host,
  type HostOptions,
  type Store,
  type Tool,
} from "@colloquy/host";
import {
  type ConversationMachine,
  conversationMachine,
  type Entry,
  type LaterEntry,
  type MachineOptions,
} from "@colloquy/machine";
import type { SimulateOptions } from "../../src/simulate/index.ts";
import { bound } from "../contracts/store/faulty-stores/fault.ts";

/** Makes a host from the simulated parts. */
export type CreateHost = NonNullable<SimulateOptions["createHost"]>;

export const withStore =
  (change: (store: Store, options: HostOptions) => Partial<Store>): CreateHost =>
  (options) =>
    createHost({ ...options, store: changed(options.store, change(options.store, options)) });

/** Replaces some methods of a store. */
export const changed = (store: Store, change: Partial<Store>): Store => ({ ...bound(store), ...change });

export const withMachine =
  (change: (options: MachineOptions) => MachineOptions): CreateHost =>
  (options) =>
    createHost({ ...options, machine: conversationMachine(change({ tools: declarationsOf(options.tools ?? []) })) });

/** Changes the recovery of a tool and of its declaration, like an author's mistake. */
export const withRecovery =
  (name: string, recovery: "rerun" | "interrupted" | "once"): CreateHost =>
  (options) => {
    const tools = (options.tools ?? []).map((tool) =>
      tool.declaration.name === name ? { ...tool, declaration: { ...tool.declaration, recovery } } : tool,
    );
    return createHost({ ...options, tools, machine: declaring(options.machine, tools) });
  };

/** Makes the same machine with other declarations, by its internals, which users cannot reach. */
const declaring = (machine: ConversationMachine, tools: readonly Tool[]): ConversationMachine => {
  const [internals] = Object.getOwnPropertySymbols(machine);
  if (internals === undefined) throw new Error("a machine has internals under a symbol");
  // Only the declarations change; the rest may be anything.
  const { settings, ...rest } = Reflect.get(machine, internals) as { readonly settings: object };
  const value = { ...rest, settings: { ...settings, tools: declarationsOf(tools) } };
  return Object.create(machine, { [internals]: { value } }) as ConversationMachine;
};

/** Makes a host whose tools run without approval, as if their declarations did not require it. */
export const withoutApprovals: CreateHost = (options) => {
  const tools = (options.tools ?? []).map((tool) => {
    const { approval: _, ...declaration } = tool.declaration;
    return { ...tool, declaration, needsApproval: null };
  });
  return createHost({ ...options, tools, machine: conversationMachine({ tools: declarationsOf(tools) }) });
};

/** Makes a host whose asks have other outcomes or show other parts. */
export const withAsk =
  (change: {
    readonly outcome?: (handle: AskHandle) => Promise<AskResult>;
    readonly parts?: (handle: AskHandle) => AsyncIterable<AskPart>;
  }): CreateHost =>
  (options) => {
    const host = createHost(options);
    const { outcome = async (handle) => handle, parts = (handle) => handle } = change;
    const ask = (...given: Parameters<Host["ask"]>): AskHandle => {
      const handle = host.ask(...given);
      return {
        threadId: handle.threadId,
        askId: handle.askId,
        get cursor() {
          return handle.cursor;
        },
        abort: (reason) => handle.abort(reason),
        // oxlint-disable-next-line unicorn/no-thenable -- a handle is one
        then: (...callbacks) => outcome(handle).then(...callbacks),
        catch: (...callbacks) => outcome(handle).catch(...callbacks),
        finally: (...callbacks) => outcome(handle).finally(...callbacks),
        [Symbol.asyncIterator]: () => iteratorOf(parts(handle)),
      };
    };
    // The fault does not depend on the type of an ask's output.
    return changedHost(host, { ask: ask as Host["ask"] });
  };

/** Replaces some methods of a host. */
export const changedHost = (host: Host, change: Partial<Host>): Host => ({
  threadDefaults: host.threadDefaults,
  machine: host.machine,
  ask: (...given) => host.ask(...given),
  thread: (...given) => host.thread(...given),
  threads: (...given) => host.threads(...given),
  search: (...given) => host.search(...given),
  importJournal: (...given) => host.importJournal(...given),
  importMessages: (...given) => host.importMessages(...given),
  start: () => host.start(),
  inMemory: () => host.inMemory(),
  close: () => host.close(),
  [Symbol.asyncDispose]: () => host.close(),
  ...change,
});

async function* iteratorOf(parts: AsyncIterable<AskPart>): AsyncGenerator<AskPart, undefined> {
  yield* parts;
}

export const isLater = (entry: Entry | undefined): entry is LaterEntry => entry !== undefined && entry.seq > 0;

export const unheard = (): AbortSignal => new AbortController().signal;
