import { outstanding } from "@colloquy/machine";
import { fold } from "@colloquy/machine/journal";
import { redactEntry } from "@colloquy/machine/storage";
import { type ObjectContext, TerminalError } from "@restatedev/restate-sdk";
import * as Either from "fp-ts/lib/Either.js";
import { dispatch, ordersOf } from "./dispatch.ts";
import type { ThreadHandlers, Writing } from "./handlers.ts";
import {
  clearSnapshot,
  entryKey,
  type Place,
  placeKey,
  placeOf,
  readEntries,
  readPage,
  setEntries,
  unreadable,
  type WorkerContext,
} from "./thread-state.ts";

/** The handlers by which a host changes a journal directly: to import, redact, move or remove a thread. All are exclusive. */
export const handlersByHand = (
  worker: WorkerContext,
): Pick<ThreadHandlers, "journal" | "lease" | "release" | "append" | "rewrite" | "remove"> => ({
  journal: async (context, from) => readPage(context, from, (await placeOf(context)).seq),

  lease: async (context, { owner, ttlMs, lease }) => {
    const place = await placeOf(context);
    const now = await context.date.now();
    const held = place.lease;
    if (lease !== undefined && held?.token !== lease.token) return null;
    if (held !== undefined && held.owner !== owner && held.until > now) return null;
    // From the time, so that it is greater than all earlier ones, even if the thread was removed meanwhile.
    const token = lease?.token ?? Math.max(now, (held?.token ?? 0) + 1);
    context.set(placeKey, { ...place, lease: { owner, token, until: now + ttlMs } });
    return { threadId: context.key, owner, token };
  },

  release: async (context, { token }) => {
    const { lease, ...place } = await placeOf(context);
    if (lease?.token !== token) return;
    if (place.seq < 0) context.clear(placeKey);
    else context.set(placeKey, place);
  },

  append: async (context, { lease, expectedSeq, entries }) => {
    const place = await placeOf(context);
    if (place.lease?.token !== lease.token) return leaseLost;
    if (place.seq !== expectedSeq) return { type: "conflict", actualSeq: place.seq };
    setEntries(context, entries);
    const redacted = entries.flatMap(({ event }) => (event.type === "thread.redacted" ? event.seqs : []));
    const written = { ...place, seq: entries.at(-1)?.seq ?? place.seq, stamp: context.rand.uuidv4() };
    // At once, so that no later event keeps the redacted words.
    const clean = redacted.length === 0 ? written : await withoutWords(context, written, redacted);
    // Effects of an imported thread that were under way continue here.
    const orders =
      place.seq >= 0 ? [] : await context.run("begin", () => ordersOf(worker.performer, effectsIn(entries)));
    context.set(placeKey, await dispatch(worker, context, clean, orders, true));
    worker.hub.publish(context.key, { type: "stored", entries, parts: [] });
    return { type: "written" };
  },

  rewrite: async (context, { lease, entries }) => {
    const place = await placeOf(context);
    if (place.lease?.token !== lease.token) return leaseLost;
    if (entries.some(({ seq }) => seq > place.seq)) throw new TerminalError("it rewrites an entry that is not there");
    setEntries(context, entries);
    context.set(placeKey, { ...(await clearSnapshot(context, place)), stamp: context.rand.uuidv4() });
    return { type: "written" };
  },

  remove: async (context, lease) => {
    const place = await placeOf(context);
    if (lease !== null && place.lease?.token !== lease.token) return null;
    for (const invocation of Object.values(place.out)) context.cancel(invocation);
    context.clearAll();
    return place.seq >= 0;
  },
});

const leaseLost: Writing = { type: "leaseLost" };

const effectsIn = (entries: Parameters<typeof fold>[0]) => {
  const folded = fold(entries);
  if (Either.isLeft(folded)) throw unreadable(folded.left.reason);
  return outstanding(folded.right);
};

const withoutWords = async (context: ObjectContext, place: Place, seqs: readonly number[]): Promise<Place> => {
  for (const seq of seqs)
    for (const entry of await readEntries(context, seq, seq)) context.set(entryKey(seq), redactEntry(entry));
  return clearSnapshot(context, place);
};
