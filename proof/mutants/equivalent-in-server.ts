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
];
