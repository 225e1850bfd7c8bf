import type { Equivalent } from "./hunt.ts";

/** The equivalent mutants of `packages/server`. */
export const equivalentInServer: readonly Equivalent[] = [
  {
    path: "packages/server/src/conversations/conversations.ts",
    original: "const found = await listed(host, call, { limit: limit + 1, order, after });",
    mutated: "const found = await listed(host, call, { limit: limit + 2, order, after });",
    reason: "only whether there is one more matters; finding a second one changes nothing",
  },
  {
    path: "packages/server/src/responses/recorded-turn.ts",
    original: 'yield { type: "replay.started", turn: this.#said.number, step: this.#step, synthesised: true };',
    mutated: 'yield { type: "replay.started", turn: this.#said.number, step: this.#step, synthesised: false };',
    reason: "only the step of a replay is read; its type needs the rest",
  },
  {
    path: "packages/server/src/studio/routes/looking.ts",
    original: "last = { of: thread, key, prompt };",
    mutated: "",
    reason: "the same prompt is explained again then; keeping it only saves time",
  },
  {
    path: "packages/server/src/studio/routes/looking.ts",
    original: "if (last?.of === thread && last.key === key) return last.prompt;",
    mutated: "",
    reason: "the same prompt is explained again then; keeping it only saves time",
  },
  {
    path: "packages/server/src/ui/waiting-pages.ts",
    original: "if (all.size === 0) this.#waiting.delete(threadId);",
    mutated: "",
    reason: "a request that has ended is replaced by none; this only frees memory",
  },
  {
    path: "packages/server/src/studio/projections/prompt-view.ts",
    original: 'if (call?.type !== "callLlm" || sent === null) throw new Error("no model call is outstanding");',
    mutated: 'if (call?.type !== "callLlm" && sent === null) throw new Error("no model call is outstanding");',
    reason: "a call for an answer is explained, and nothing else; the types can't say so",
  },
  {
    path: "packages/server/src/studio/projections/prompt-view.ts",
    original:
      'const call = outstanding(state).find((effect) => effect.type === "callLlm" && effect.purpose === "answer");',
    mutated:
      'const call = outstanding(state).find((effect) => effect.type === "callLlm" || effect.purpose === "answer");',
    reason: "the call for an answer comes before that for a summary, and without one nothing is explained",
  },
  {
    path: "packages/server/src/studio/reading/changed-threads.ts",
    original: "since = Math.max(since, Math.min(thread.updatedAt, clock.now()) - skewMs);",
    mutated: "",
    reason: "the threads that were seen are listed again then, and left out; moving on only saves time",
  },
  {
    path: "packages/server/src/ui/chat.ts",
    original: "waiting.end();",
    mutated: "",
    reason: "a request that has ended is not asked again; this only frees memory",
  },
  {
    path: "packages/server/src/responses/ask-response.ts",
    original: 'if (target === null) throw invalid("input: nothing waits for these outputs", "input");',
    mutated: "",
    reason: "each output names its thread, so there is a target; the type can't say so",
  },
  {
    path: "packages/server/src/ui/ui-messages.ts",
    original: "number = (number === open?.number ? open : turnNumbered(state, number))?.parent ?? 0;",
    mutated: "number = (number === open?.number ? open : turnNumbered(state, number))?.parent ?? 1;",
    reason: "each turn of a path is in the thread; the type can't say so",
  },
  {
    path: "packages/server/src/http/event-stream.ts",
    original: "const own = (this.#byPrincipal.get(principal) ?? 1) - 1;",
    mutated: "const own = (this.#byPrincipal.get(principal) ?? 2) - 1;",
    reason: "a stream that is given back was taken, so it is counted; the type can't say so",
  },
  {
    path: "packages/server/src/studio/reading/thread-reader.ts",
    original: "const statesEvery = 256;",
    mutated: "const statesEvery = 257;",
    reason: "the states between are folded from the entries either way; the distance only decides time and memory",
  },
  {
    path: "packages/server/src/http/access.ts",
    original: "return one.reduce((difference, byte, index) => difference | (byte ^ (other[index] ?? 0)), 0) === 0;",
    mutated: "return one.reduce((difference, byte, index) => difference | (byte ^ (other[index] ?? 1)), 0) === 0;",
    reason: "both digests have 32 bytes; the type can't say so",
  },
];
