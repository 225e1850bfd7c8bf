import type { Equivalent } from "./hunt.ts";

/** The equivalent mutants of `packages/sessions`. */
export const equivalentInSessions: readonly Equivalent[] = [
  {
    path: "packages/sessions/src/session.ts",
    original: "return start(this.#session.machine, { threadId: this.thread.id, at: 0, seed, ...system }).state;",
    mutated: "return start(this.#session.machine, { threadId: this.thread.id, at: 1, seed, ...system }).state;",
    reason: "only the messages of the state are read, not its time",
  },
  ...[
    "",
    "if (calls.size === 0)",
    "if (!(calls.size === 0)) this.#calls.delete(key);",
    "if (calls.size !== 0) this.#calls.delete(key);",
  ].map((mutated) => ({
    path: "packages/sessions/src/threads/session-runtime.ts",
    original: "if (calls.size === 0) this.#calls.delete(key);",
    mutated,
    reason: "a call that has ended is told nothing; this only frees memory",
  })),
  {
    path: "packages/sessions/src/agents/file/agent-reader.ts",
    original: "const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(stats.size, bytesMax) + 1), 0);",
    mutated: "const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(stats.size, bytesMax) + 2), 0);",
    reason: "one byte too many is enough to tell that a file is too large",
  },
  {
    path: "packages/sessions/src/threads/session-runtime.ts",
    original: "if (this.#last.get(name) === over) this.#last.delete(name);",
    mutated: "",
    reason: "work that has ended delays none; this only frees memory",
  },
  {
    path: "packages/sessions/src/threads/shared-session.ts",
    original: "retry: { attempts: 1 },",
    mutated: "retry: { attempts: 2 },",
    reason: "a program's failure never asks to be tried again; the option only says so",
  },
  {
    path: "packages/sessions/src/turns/prompts.ts",
    original: 'if (call?.type !== "callLlm") return;',
    mutated: "",
    reason: "a turn whose model responds has a call; the types can't say so",
  },
  {
    path: "packages/sessions/src/turns/journal.ts",
    original: "if (!step.handled) return Either.left(step.refusal.reason);",
    mutated: "",
    reason: "the readers of files give only events that follow one another; the types can't say so",
  },
  {
    path: "packages/sessions/src/datasets/rerun/conversation.ts",
    original: '"~standard": { version: 1, vendor: "colloquy", validate: (value) => ({ value }) },',
    mutated: '"~standard": { version: 2, vendor: "colloquy", validate: (value) => ({ value }) },',
    reason: "nothing reads the version of a schema; the standard has this one",
  },
  {
    path: "packages/sessions/src/agents/subagents/subagent-tool.ts",
    original: "version: 1,",
    mutated: "version: 2,",
    reason: "nothing reads the version of a schema; the standard has this one",
  },
  {
    path: "packages/sessions/src/run/place.ts",
    original: ".filter((number) => number < before);",
    mutated: ".filter((number) => number <= before);",
    reason: "an episode gets its memory when its turn ends, so the turn that asks has none yet",
  },
  {
    path: "packages/sessions/src/datasets/examples/linearise.ts",
    original: "const fork = forks.find((each) => each.seq > seq);",
    mutated: "const fork = forks.find((each) => each.seq >= seq);",
    reason: "an entry is a reply or a fork, so a call and a fork never have the same number",
  },
  {
    path: "packages/sessions/src/datasets/rerun/conversation.ts",
    original: 'if (role === "tool") return [];',
    mutated: "",
    reason: "no result of a tool comes before the first reply of a turn; the types can't say so",
  },
];
