import { fromStore } from "../ports/store-call.ts";
import type { PartBatchPlace } from "../ports/store.ts";
import type { PlacedPart, TurnLog } from "./log.ts";
import type { AskPart } from "./parts.ts";
import type { PartLogging } from "./sink.ts";
import type { TurnLogs } from "./turn-logs.ts";

/** Reads the parts that the holders of a thread wrote to the store's log. Each read continues after the last. */
export class StoredParts {
  readonly #threadId: string;
  readonly #logging: PartLogging;
  readonly #logs: TurnLogs;
  readonly #read = new Set<TurnLog>();
  #after: PartBatchPlace | null = null;
  #isFailing = false;

  constructor(threadId: string, logging: PartLogging, logs: TurnLogs) {
    this.#threadId = threadId;
    this.#logging = logging;
    this.#logs = logs;
  }

  /**
   * Appends new parts to the logs in memory. Never rejects: of failures in a row the first is reported. @param turn
   * reads only this turn
   */
  async read(turn?: number): Promise<void> {
    const { log: stored, clock, report } = this.#logging;
    const range = { at: clock.now(), after: this.#after, ...(turn === undefined ? {} : { turn }) };
    try {
      const batches = await fromStore(this.#threadId, "read what was shown", () => stored.read(this.#threadId, range));
      for (const batch of batches) {
        const log = this.#logs.open(this.#threadId, batch.turn);
        this.#read.add(log);
        for (const part of partsIn(batch.body, batch.token)) log.appendShown(part);
        if (log.hasEnded) this.#logs.rest(this.#threadId, log);
        this.#after = { token: batch.token, number: batch.number };
      }
      this.#isFailing = false;
    } catch (thrown) {
      if (!this.#isFailing) report(thrown);
      this.#isFailing = true;
    }
  }

  /** Ends the reading. */
  end(): void {
    for (const log of this.#read) this.#logs.rest(this.#threadId, log);
  }
}

/**
 * Parses such a text. Parts of an unknown type are left out: a later version may have written them.
 *
 * @throws SyntaxError, TypeError for an invalid text
 */
const partsIn = (body: string, epoch: number): readonly PlacedPart[] => {
  const items: unknown = JSON.parse(body);
  if (!Array.isArray(items)) throw new TypeError("it is no list");
  return items.flatMap((item: unknown) => placedPartOf(item, epoch) ?? []);
};

const placedPartOf = (item: unknown, epoch: number): PlacedPart | null => {
  if (!Array.isArray(item)) throw new TypeError("it has an item that is no list");
  // `Array.isArray` narrows to `any[]`.
  const [index, offset, part] = item as readonly unknown[];
  if (!isCount(index) || !isCount(offset) || !isPart(part)) throw new TypeError("it has an item that is no part");
  return part.type in knownTypes ? { part, place: { epoch, index, offset } } : null;
};

/** Returns a part from elsewhere; null if it is invalid, or of a type that this version does not know. */
export const partOf = (value: unknown): AskPart | null => (isPart(value) && value.type in knownTypes ? value : null);

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

/**
 * Checks the members that are read first. Parts that a host of this version wrote are valid; this detects foreign
 * texts.
 */
const isPart = (value: unknown): value is AskPart => {
  if (typeof value !== "object" || value === null || !("type" in value) || typeof value.type !== "string") return false;
  if (!value.type.endsWith(".delta")) return true;
  return "text" in value ? typeof value.text === "string" : "arguments" in value && typeof value.arguments === "string";
};

const knownTypes: { readonly [Type in AskPart["type"]]: true } = {
  "turn.started": true,
  "step.started": true,
  "text.delta": true,
  "reasoning.delta": true,
  "refusal.delta": true,
  "toolCall.delta": true,
  toolCall: true,
  toolResult: true,
  "approval.requested": true,
  "step.ended": true,
  signal: true,
  "output.partial": true,
  "result.requested": true,
  "thread.forked": true,
  "wait.started": true,
  "wait.ended": true,
  "thread.lost": true,
  "replay.started": true,
  "parts.dropped": true,
  "turn.ended": true,
};
