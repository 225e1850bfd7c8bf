import { randomUUID } from "node:crypto";
import type { Decision, HandledDecision, ShownPart } from "@colloquy/host/perform";
import type { Entry, Refusal } from "@colloquy/machine";
import { StoredChunks, takeSnapshot } from "@colloquy/machine/storage";
import { type ObjectContext, rpc } from "@restatedev/restate-sdk";
import { dispatch, type Order, ordersOf } from "./dispatch.ts";
import { type Mail, type ThreadHandlers, type Told, laterMs } from "./handlers.ts";
import {
  type KnownThread,
  messageBytesMax,
  type Place,
  placeKey,
  placeOf,
  setEntries,
  setSnapshot,
  sizeOf,
  withThread,
  type WorkerContext,
} from "./thread-state.ts";

/** Gives an event to the machine in one durable step. Its entries are set before anything is sent. */
export const tellHandler =
  (worker: WorkerContext): ThreadHandlers["tell"] =>
  async (context, mail) => {
    // An expired lease is dropped, and cannot be renewed: the journal changes now.
    const { lease, ...place } = await placeOf(context);
    if (lease !== undefined && lease.until > (await context.date.now())) return sendLater(worker, context, mail);
    // After a crash of this process, followers read the journal.
    let report = (): readonly ShownPart[] => [];
    const decided = await withThread(worker, context, place, "decide", (thread): Decided => {
      const decision = decide(worker, context.key, thread, mail);
      if (decision.type !== "handled") return decision;
      report = () => worker.performer.report(context.key, decision, mail.streamed === true);
      return keep(worker, context.key, thread, mail, decision);
    });
    if (decided.type === "refused") return decided;
    if (decided.type === "cutsOff") return cutOff(worker, context, mail, decided.effectId);
    const entries = decided.entries.map((entry) => withEventOf(mail, entry));
    setEntries(context, entries);
    worker.hub.publish(context.key, { type: "stored", entries, parts: report() });
    const seq = entries.at(-1)?.seq ?? place.seq;
    const performed = mail.event.type === "tool.started" || !("effectId" in mail.event) ? null : mail.event.effectId;
    const next = { ...place, seq, stamp: decided.stamp };
    const answered = performed === null ? next : withoutTask(context, next, performed, mail);
    const placed = await dispatch(worker, context, answered, decided.orders);
    context.set(placeKey, await withSnapshot(worker, context, placed, entries));
    return { type: "handled", seq };
  };

/** The result of an event, as a durable step gives it. */
type Decided =
  | {
      readonly type: "handled";
      readonly stamp: string;
      readonly entries: readonly EntryOfMail[];
      readonly orders: readonly Order[];
    }
  | { readonly type: "refused"; readonly refusal: Refusal }
  | { readonly type: "cutsOff"; readonly effectId: string };

const decide = ({ performer }: WorkerContext, threadId: string, thread: KnownThread | null, mail: Mail): Decision => {
  const at = performer.clock.now();
  const { recovered, shown } = mail;
  const how = { at, ...(recovered === undefined ? {} : { recovered }), ...(shown === undefined ? {} : { shown }) };
  const event = mail.isSent === true ? { ...mail.event, at } : mail.event;
  return performer.decide(threadId, thread?.state ?? null, event, how);
};

/** Keeps the state after a decision, under a stamp of its own. */
const keep = (
  { performer, known }: WorkerContext,
  threadId: string,
  thread: KnownThread | null,
  mail: Mail,
  { entries, effects, state }: HandledDecision,
): Decided => {
  const stamp = randomUUID();
  known.keep(threadId, stamp, { stored: new StoredChunks(), texts: new Map<string, string>(), ...thread, state });
  const orders = ordersOf(performer, effects);
  const written = entries.map((entry) => withoutEventOf(mail, entry));
  return { type: "handled", stamp, entries: written, orders };
};

/** An entry in the result of a step, without the members that its event shares with the mail. */
interface EntryOfMail {
  readonly entry: Omit<Entry, "event"> & Partial<Pick<Entry, "event">>;
  readonly own?: object;
}

const withoutEventOf = ({ event: sent }: Mail, entry: Entry): EntryOfMail => {
  const { event, ...rest } = entry;
  if (event.type !== sent.type || Object.keys(sent).some((name) => !(name in event))) return { entry };
  const isSaid = ([name, value]: readonly [string, unknown]): boolean =>
    JSON.stringify(value) === JSON.stringify(Reflect.get(sent, name));
  return { entry: rest, own: Object.fromEntries(Object.entries(event).filter((member) => !isSaid(member))) };
};

/** Restores the entry. */
const withEventOf = ({ event }: Mail, { entry, own }: EntryOfMail): Entry =>
  (own === undefined ? entry : { ...entry, event: { ...event, ...own } }) as Entry;

/** Sends an event again whose sender waits for no result. */
const sendLater = (worker: WorkerContext, context: ObjectContext, mail: Mail): Told => {
  if (mail.isSent === true)
    context.objectSendClient<ThreadHandlers>(worker.object, context.key).tell(mail, rpc.sendOpts({ delay: laterMs }));
  return { type: "later" };
};

const cutOff = (worker: WorkerContext, context: ObjectContext, mail: Mail, effectId: string): Told => {
  if (mail.isSent === true)
    context.objectSendClient<ThreadHandlers>(worker.object, context.key).cut({ mail, effectId });
  return { type: "cutsOff", effectId };
};

/** Removes an answered effect. If another than its performer answered it, its performer is stopped. */
const withoutTask = (context: ObjectContext, place: Place, effectId: string, { isSent }: Mail): Place => {
  const { [effectId]: invocation, ...out } = place.out;
  if (invocation !== undefined && isSent !== true) context.cancel(invocation);
  return { ...place, out };
};

/** Saves a snapshot after enough entries, so that a process that does not know the thread reads few of them. */
const withSnapshot = async (
  worker: WorkerContext,
  context: ObjectContext,
  place: Place,
  entries: readonly Entry[],
): Promise<Place> => {
  const newest = entries.at(-1);
  if (newest === undefined || worker.snapshotEvery === 0) return place;
  if (place.seq - place.snapshotSeq < worker.snapshotEvery) return place;
  let keepTaken = (): void => {};
  const taken = await withThread(worker, context, place, "snapshot", (thread) => {
    if (thread === null) throw new RangeError(`thread "${context.key}" has entries, and no state`);
    const snapshot = takeSnapshot(thread.state, newest, thread.stored);
    const chunks = [...snapshot.chunks];
    // Too large for Restate; readers use the journal instead.
    if (sizeOf([snapshot.head, chunks]) > messageBytesMax) return null;
    keepTaken = () => thread.stored.keep(snapshot);
    return { head: snapshot.head, chunks };
  });
  if (taken !== null) setSnapshot(context, { seq: place.seq, head: taken.head }, taken.chunks);
  // Only now, since the step was recorded.
  keepTaken();
  return { ...place, snapshotSeq: place.seq };
};
