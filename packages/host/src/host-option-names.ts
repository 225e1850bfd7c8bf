import type { ThreadDefaults } from "./context/host-context.ts";
import type { HostOptions, ImportOptions } from "./host.ts";
import type { OptionNames } from "./boundary/option-names.ts";

/** What `createHost` takes. */
export const hostOptionNames: OptionNames<HostOptions> = {
  machine: true,
  store: true,
  llm: true,
  clock: true,
  ids: true,
  tools: true,
  toolContext: true,
  thread: true,
  hooks: true,
  observers: true,
  onObserverError: true,
  defaultThread: true,
  leaseTtlMs: true,
  storeTimeoutMs: true,
  idleMs: true,
  maxActive: true,
  whenHeld: true,
  pollMs: true,
  progressMs: true,
  partials: true,
  snapshotEvery: true,
  owner: true,
};

/** What a thread begins with. */
export const threadDefaultNames: OptionNames<ThreadDefaults> = {
  system: true,
  seed: true,
  metadata: true,
  model: true,
};

export const importOptionNames: OptionNames<ImportOptions> = { threadId: true, metadata: true };
