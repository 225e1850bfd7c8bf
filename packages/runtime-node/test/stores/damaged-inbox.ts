import type { Inbox, Lease, InboxItem } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import { expect } from "vitest";

import { take } from "./journal.ts";

/**
 * Checks a store with a damaged inbox item: it reads the other items, and the damaged one can be answered by its id. A
 * damaged answer is a refusal.
 *
 * @param spoil replaces the stored inbox item, or its answer, with a text.
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

/** Checks a damaged answer in stores that keep it apart from its inbox item, so that they know which is damaged. */
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
