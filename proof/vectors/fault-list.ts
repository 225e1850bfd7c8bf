/** A small fault of the machine: the source file, the original lines, and the lines with it, empty if they are removed. */
export type Fault = readonly [path: string, original: string, mutated: string];

/**
 * Faults, each of which a vector must catch. Each five in a row are of deciding, updating, prompts, journals and
 * threads, so that the first five, or any five at equal distances, cover all of these.
 */
export const faults: readonly Fault[] = [
  [
    "conversation/decide/tool-call.ts",
    'call.started || (call.approval?.status === "granted" && call.approval.because === "unknown_outcome");',
    'call.started && (call.approval?.status === "granted" && call.approval.because === "unknown_outcome");',
  ],
  [
    "conversation/update/call.ts",
    "attempt: (open.refusedOutputs?.length ?? 0) + 1,",
    "attempt: (open.refusedOutputs?.length ?? 1) + 1,",
  ],
  [
    "prompt/unit.ts",
    "for (let index = from; index < end; index++) {",
    "for (let index = from; index <= end; index++) {",
  ],
  [
    "journal/fold.ts",
    "if (given.seq !== index) return wrong(index, `entry ${given.seq} stands where ${index} should: the sequence has a gap or a repetition`);",
    "",
  ],
  [
    "thread/make-message.ts",
    ".sort(([left], [right]) => (left < right ? -1 : 1))",
    ".sort(([left], [right]) => (left < right ? 1 : 1))",
  ],
  [
    "conversation/decide/decide.ts",
    "if (open !== null && isAmong([...open.asks, ...open.joining], askId)) return repeatedIn(askId, open.number);",
    "",
  ],
  [
    "conversation/update/waiting-asks.ts",
    "const place = [...queue].findIndex((ask) => ask.askId === askId);",
    "const place = [...queue].findIndex((ask) => ask.askId !== askId);",
  ],
  [
    "prompt/summary-message.ts",
    '...(tools.length === 0 ? [] : [`Tools used: ${tools.join(", ")}.`]),',
    '...(tools.length !== 0 ? [] : [`Tools used: ${tools.join(", ")}.`]),',
  ],
  ["journal/fork.ts", "if (!isThere) return false;", ""],
  [
    "thread/usage.ts",
    "unpriced: cost === null && !isNothing(reported) ? 1 : 0,",
    "unpriced: cost === null || !isNothing(reported) ? 1 : 0,",
  ],
  [
    "conversation/decide/outcome.ts",
    "const fractionOf = (text: string): number => (Number.parseInt(digestOf(text).slice(-6), 36) % 1000) / 1000;",
    "const fractionOf = (text: string): number => (Number.parseInt(digestOf(text).slice(-6), 36) % 1001) / 1000;",
  ],
  [
    "conversation/update/reply.ts",
    "if (asked.length === 0 && open.output !== undefined) return receiveOutput(data, open, message, event, decided);",
    "if (asked.length !== 0 && open.output !== undefined) return receiveOutput(data, open, message, event, decided);",
  ],
  [
    "prompt/history.ts",
    "for (let { turn } = this.#walk; turn !== undefined; { turn } = this.#walk) {",
    "for (let { turn } = this.#walk; !(turn !== undefined); { turn } = this.#walk) {",
  ],
  ["journal/fork.ts", 'copy.add({ type: "thread.forked", at, from: { threadId, turn } });', ""],
  [
    "thread/make-message.ts",
    "return message.parts.length === 0 ? null : marked(message, { incomplete: true });",
    "return message.parts.length === 1 ? null : marked(message, { incomplete: true });",
  ],
  [
    "conversation/decide/unconfigured.ts",
    "const next = number === conversation.turns.length + 1;",
    "const next = number === conversation.turns.length + 2;",
  ],
  [
    "conversation/update/turn-opening.ts",
    "deadlineAt: decided.deadlineAt ?? null,",
    "deadlineAt: decided.deadlineAt && null,",
  ],
  [
    "prompt/policies/token-window.ts",
    "return { from, reason: `older than what fits into ${room} tokens`, ...(most === null ? {} : { pressed: true }) };",
    "return { from, reason: `older than what fits into ${room} tokens`, ...(most !== null ? {} : { pressed: true }) };",
  ],
  ["journal/fork.ts", "this.#state = begun.right;", ""],
  ["thread/chunks.ts", "for (let level = 0; ; level++) {", "for (let level = 0; ; level--) {"],
];
