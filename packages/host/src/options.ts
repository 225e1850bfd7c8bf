import { ConfigurationError, frozenCopy, toolsOf } from "@colloquy/machine";
import { ActiveThreads } from "./activity/active-threads.ts";
import { withContext } from "./ask/asks.ts";
import type { Equipment } from "./context/host-context.ts";
import { Observation } from "./context/hooks.ts";
import type { HostOptions } from "./host.ts";
import { hostOptionNames, threadDefaultNames } from "./host-option-names.ts";
import { problemOfOptions } from "./boundary/option-names.ts";
import { storeInTime } from "./ports/store-in-time.ts";
import { toolRegistry } from "./tools/registry.ts";

/** What the options of a host come to, with their defaults. @throws ConfigurationError for one that is invalid */
export const equipmentOf = (options: HostOptions): Equipment => {
  const problem =
    problemOfOptions("createHost", options, hostOptionNames) ??
    problemOfOptions("createHost: thread", options.thread ?? {}, threadDefaultNames);
  if (problem !== null) throw new ConfigurationError(problem);
  const { machine, llm, clock, ids, leaseTtlMs = 30_000, storeTimeoutMs = 30_000, idleMs = 5_000 } = options;
  const { maxActive = 256, pollMs = 200, whenHeld = "enqueue" } = options;
  const { progressMs = null, partials = "askAgain", snapshotEvery = 512 } = options;
  for (const [name, value, least] of [
    ["leaseTtlMs", leaseTtlMs, 3],
    ["storeTimeoutMs", storeTimeoutMs, 1],
    ["idleMs", idleMs, 0],
    ["maxActive", maxActive, 1],
    ["pollMs", pollMs, 1],
    ["progressMs", progressMs ?? 1, 1],
    ["snapshotEvery", snapshotEvery, 0],
  ] as const) {
    if (!(Number.isSafeInteger(value) && value >= least))
      throw new ConfigurationError(`${name} is ${value}; it must be a whole number, ${least} or more`);
  }
  if (whenHeld !== "enqueue" && whenHeld !== "reject")
    throw new ConfigurationError(`whenHeld is ${JSON.stringify(whenHeld)}; it must be "enqueue" or "reject"`);
  if (partials !== "askAgain" && partials !== "keep")
    throw new ConfigurationError(`partials is ${JSON.stringify(partials)}; it must be "askAgain" or "keep"`);
  return {
    machine,
    store: storeInTime(options.store, {
      clock,
      timeoutMs: storeTimeoutMs,
      renewMs: Math.min(storeTimeoutMs, Math.floor(leaseTtlMs / 3)),
    }),
    llm,
    clock,
    leaseTtlMs,
    storeTimeoutMs,
    idleMs,
    pollMs,
    whenHeld,
    ids,
    active: new ActiveThreads(maxActive),
    progressMs,
    partials,
    snapshotEvery,
    tools: toolRegistry(options.tools ?? [], toolsOf(machine)),
    observation: new Observation(options.hooks ?? {}, [...(options.observers ?? [])], options.onObserverError),
    toolContext: withContext(options.toolContext ?? {}, undefined),
    threadDefaults: frozenCopy(options.thread ?? {}),
    owner: options.owner ?? ids.draw("owner"),
  };
};
