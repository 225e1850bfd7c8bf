import { type Inbox, LeaseLostError, type InboxItem, type InboxAnswer } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import { expect } from "vitest";

import { begun, entryOf, lostLeases, take, write } from "./sample-entries.ts";
import type { StoreChecks } from "./subject.ts";

export const inboxChecks: StoreChecks = {
  "keeps inbox items in order, and shows them to every reader": async ({ store, another, reopen }) => {
    const other = await another();
    for (const id of ["b", "a", "10", "9", "c"]) await inboxOf(id < "b" ? store : other).post("thread", item(id));
    await inboxOf(store).post("elsewhere", item("b", "another"));
    const inOrder = ["b", "a", "10", "9", "c"].map((id) => item(id));
    expect(await inboxOf(store).unanswered("thread")).toEqual(inOrder);
    expect(await inboxOf(other).unanswered("thread")).toEqual(inOrder);
    const later = inboxOf(await reopen());
    expect(await later.unanswered("thread")).toEqual(inOrder);
    expect(await later.unanswered("elsewhere")).toEqual([item("b", "another")]);
    expect(await later.unanswered("nowhere")).toEqual([]);
  },
  "keeps an inbox item once by its id, answered or not, for its own thread alone": async ({ store, another }) => {
    const inbox = inboxOf(store);
    const lease = await take(store, "thread");
    await inbox.post("thread", item("a", "first"));
    await inbox.post("thread", item("b"));
    await inboxOf(await another()).post("thread", item("a", "again"));
    expect(await inbox.unanswered("thread")).toEqual([item("a", "first"), item("b")]);
    await inbox.answer(lease, [handled("a", 7)]);
    await inbox.post("thread", item("a", "once more"));
    expect(await inbox.unanswered("thread")).toEqual([item("b")]);
    expect(await inbox.answerTo("thread", "a")).toEqual(handled("a", 7));
    expect(await inbox.answerTo("elsewhere", "a")).toBeNull();
  },
  "takes inbox items of many at once, and loses none": async ({ store, another }) => {
    const [inbox, other] = [inboxOf(store), inboxOf(await another())];
    const ids = Array.from({ length: 40 }, (_, index) => `${index % 20}`);
    await Promise.all(ids.map((id, index) => (index % 2 === 0 ? inbox : other).post("thread", item(id))));
    const found = (await inbox.unanswered("thread")).map((each) => JSON.stringify(each));
    expect(found.sort()).toEqual([...new Set(ids.map((id) => JSON.stringify(item(id))))].sort());
  },
  "gives the answer to an inbox item, and shows it as unanswered no more": async ({ store, another, reopen }) => {
    const inbox = inboxOf(store);
    const lease = await take(store, "thread");
    for (const id of ["a", "b", "c"]) await inbox.post("thread", item(id));
    expect(await inbox.answerTo("thread", "b")).toBeNull();
    await inbox.answer(lease, []);
    await inbox.answer(lease, [refused("c"), handled("never left", 1), handled("a", 3)]);
    expect(await inbox.unanswered("thread")).toEqual([item("b")]);
    const areAnswered = async (each: Inbox): Promise<void> => {
      expect(await each.answerTo("thread", "a")).toEqual(handled("a", 3));
      expect(await each.answerTo("thread", "b")).toBeNull();
      expect(await each.answerTo("thread", "c")).toEqual(refused("c"));
      expect(await each.answerTo("thread", "never left")).toBeNull();
      expect(await each.unanswered("thread")).toEqual([item("b")]);
    };
    await areAnswered(inbox);
    await areAnswered(inboxOf(await another()));
    await areAnswered(inboxOf(await reopen()));
  },
  "names the threads in which inbox items wait": async ({ store, another, reopen }) => {
    const inbox = inboxOf(store);
    const waiting = async (): Promise<readonly string[]> => [...(await inbox.waiting())].sort();
    expect(await waiting()).toEqual([]);
    const lease = await take(store, "thread");
    for (const id of ["a", "b"]) await inboxOf(await another()).post("thread", item(id));
    for (const threadId of ["it's é", "deleted"]) await inbox.post(threadId, item("a"));
    await store.delete("deleted");
    expect(await waiting()).toEqual(["it's é", "thread"]);
    await inbox.answer(lease, [handled("a", 1)]);
    await inbox.discard("it's é", "a");
    expect(await waiting()).toEqual(["thread"]);
    await inbox.answer(lease, [refused("b")]);
    expect(await waiting()).toEqual([]);
    await inbox.post("it's é", item("b"));
    expect(await inboxOf(await reopen()).waiting()).toEqual(["it's é"]);
  },
  "answers nothing under a lease that is not in force": async (subject) => {
    const inbox = inboxOf(subject.store);
    await write(subject.store, "thread", 1);
    await inbox.post("thread", item("a"));
    for (const lease of Object.values(await lostLeases(subject, "thread")))
      await expect(inbox.answer(lease, [handled("a", 1)])).rejects.toBeInstanceOf(LeaseLostError);
    expect(await inbox.unanswered("thread")).toEqual([item("a")]);
    expect(await inbox.answerTo("thread", "a")).toBeNull();
  },
  "forgets an inbox item that is discarded, answered or not, and no other": async ({ store }) => {
    const inbox = inboxOf(store);
    const lease = await take(store, "thread");
    for (const id of ["a", "b", "c", "d"]) await inbox.post("thread", item(id));
    await inbox.answer(lease, [handled("a", 1), handled("b", 2)]);
    await inbox.discard("thread", "a");
    await inbox.discard("thread", "c");
    await inbox.discard("thread", "never left");
    await inbox.discard("elsewhere", "d");
    expect(await inbox.unanswered("thread")).toEqual([item("d")]);
    expect(await inbox.answerTo("thread", "a")).toBeNull();
    expect(await inbox.answerTo("thread", "b")).toEqual(handled("b", 2));
    await inbox.post("thread", item("a", "anew"));
    expect(await inbox.unanswered("thread")).toEqual([item("d"), item("a", "anew")]);
  },
  "takes inbox items for a thread that is not there yet, and makes none of them": async ({ store }) => {
    const inbox = inboxOf(store);
    await inbox.post("thread", item("a"));
    expect(await store.read("thread")).toEqual([]);
    expect((await store.list()).threads).toEqual([]);
    const lease = await begun(store, [entryOf(0)]);
    expect(await inbox.unanswered("thread")).toEqual([item("a")]);
    await inbox.answer(lease, [handled("a", 0)]);
    expect(await store.read("thread")).toEqual([entryOf(0)]);
  },
  "deletes inbox items and answers with their thread, also where there was nothing else": async (subject) => {
    const { store, reopen } = subject;
    const lease = await begun(store, [entryOf(0)]);
    for (const threadId of ["thread", "only inbox items", "other"]) {
      await inboxOf(store).post(threadId, item("a"));
      await inboxOf(store).post(threadId, item("b"));
    }
    await inboxOf(store).answer(lease, [handled("a", 1)]);
    expect(await store.delete("thread")).toBe(true);
    await store.delete("only inbox items");
    const later = inboxOf(await reopen());
    for (const threadId of ["thread", "only inbox items"]) {
      expect(await later.unanswered(threadId)).toEqual([]);
      expect(await later.answerTo(threadId, "a")).toBeNull();
    }
    expect(await later.unanswered("other")).toEqual([item("a"), item("b")]);
  },
  "gives back inbox items and answers exactly, whatever their ids": async ({ store }) => {
    const inbox = inboxOf(store);
    const lease = await take(store, "thread");
    const ids = [
      "__proto__",
      "a/../b",
      "é",
      "e\u0301",
      "🙂",
      "'; DROP TABLE letters; --",
      "A",
      "a",
      "%",
      "x".repeat(200),
    ];
    const items = ids.map((id) => item(id, `${id} \0 \ud800 \u2028`));
    for (const each of items) await inbox.post("thread", each);
    expect(await inbox.unanswered("thread")).toEqual(items);
    for (const each of items) await inbox.answer(lease, [refused(each.id)]);
    for (const id of ids) expect(await inbox.answerTo("thread", id)).toEqual(refused(id));
    expect(await inbox.unanswered("thread")).toEqual([]);
  },
};

const inboxOf = ({ inbox }: Store): Inbox => {
  if (inbox === undefined) throw new Error("the store has no inbox");
  return inbox;
};

const item = (id: string, input = `item ${id}`): InboxItem => ({
  id,
  event: { type: "ask.received", at: 1, askId: id, input },
});

const handled = (id: string, seq: number): InboxAnswer => ({ id, handled: true, seq });

const refused = (id: string): InboxAnswer => ({
  id,
  handled: false,
  refusal: { kind: "busy", reason: `${id} can't be now: \ud800` },
});
