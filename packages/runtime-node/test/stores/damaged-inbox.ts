import type { Inbox, Lease, InboxItem } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import { expect } from "vitest";

import { take } from "./journal.ts";

/**
 * Holds a store to what it owes a thread one of whose inbox items was damaged where it is kept: the others are read, and the
 * damaged one can be answered by its id; an answer that was damaged is a refusal.
 *
 * @param spoil puts a text in the place of what the store keeps of an inbox item, or of its answer.
 */
export const checkDamagedLetters = async (
  store: Store,
  spoil: (threadId: string, letterId: string, text: string) => unknown,
): Promise<void> => {
  const inbox = inboxOf(store);
  const lease: Lease = await take(store);
  for (const id of ["a", "torn", "list", "nameless", "z"]) await inbox.post("thread", letter(id));
  await spoil("thread", "torn", '{"id":"torn","ev');
  await spoil("thread", "list", "[1]");
  await spoil("thread", "nameless", '{"event":1}');
  const left = [letter("a"), { id: "torn" }, { id: "list" }, { id: "nameless", event: 1 }, letter("z")];
  expect(await inbox.unanswered("thread")).toEqual(left);
  for (const id of ["torn", "list", "nameless"]) await inbox.answer(lease, [refusal(id)]);
  expect(await inbox.unanswered("thread")).toEqual([letter("a"), letter("z")]);
  expect(await inbox.answerTo("thread", "torn")).toEqual(refusal("torn"));
  await inbox.discard("thread", "torn");
  expect(await inbox.answerTo("thread", "torn")).toBeNull();
};

/** The same for stores that keep an answer apart from its inbox item, so that it is known which of them was damaged. */
export const checkDamagedAnswer = async (
  store: Store,
  spoil: (threadId: string, letterId: string, text: string) => unknown,
): Promise<void> => {
  const inbox = inboxOf(store);
  const lease = await take(store);
  await inbox.post("thread", letter("answered"));
  await inbox.answer(lease, [refusal("answered")]);
  await spoil("thread", "answered", '{"id":"answ');
  expect(await inbox.answerTo("thread", "answered")).toEqual({ id: "answered", handled: false });
};

const inboxOf = ({ inbox }: Store): Inbox => {
  if (inbox === undefined) throw new Error("the store has no inbox");
  return inbox;
};

const letter = (id: string): InboxItem => ({ id, event: { type: "ask.received", at: 1, askId: id, input: id } });

const refusal = (id: string) =>
  ({ id, handled: false, refusal: { kind: "invalid", reason: "it can't be read" } }) as const;
