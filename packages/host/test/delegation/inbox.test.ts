import type { Event } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { type Inbox, LeaseLostError } from "@colloquy/host/store";
import { memoryStore, type Store } from "@colloquy/host";
import { overriding } from "../gated-store.ts";
import { errorOf, held, journalOf, manualClock, says, settle, stage } from "../stage.ts";

const inboxOf = ({ inbox }: Store): Inbox => {
  if (inbox === undefined) throw new Error("no inbox");
  return inbox;
};

/** A memory store whose inbox does some things otherwise. */
const withInbox = (change: (inner: Inbox) => Partial<Inbox>) => {
  const clock = manualClock();
  const inner = memoryStore({ clock });
  const inbox = inboxOf(inner);
  return { clock, inner, store: overriding(inner, { inbox: { ...inbox, ...change(inbox) } }) };
};

const asks = (askId: string): Event => ({ type: "ask.received", at: 1, askId, input: askId });

describe("an inbox item that can't be read", () => {
  const stray: readonly unknown[] = [
    null,
    "no inbox item",
    [],
    { event: asks("nameless") },
    { id: 7, event: asks("numbered") },
    { id: "bare" },
    { id: "strange", event: { type: "no.such.event", at: 1 } },
    { id: "misled", event: { type: "system.reset", at: 1 } },
  ];

  test("is refused or passed over, and reported once, and the others go on", async () => {
    const answered: string[] = [];
    const reported: string[] = [];
    const { clock, inner, store } = withInbox((inbox) => ({
      unanswered: async (threadId) => [
        ...stray.filter((each) => !answered.includes(String(Object(each).id))),
        ...(await inbox.unanswered(threadId)),
      ],
      answer: async (lease, answers) => {
        for (const { id } of answers) answered.push(id);
        await inbox.answer(lease, answers);
      },
    }));
    await inboxOf(inner).post("default", { id: "sound", event: asks("a") });
    const { host } = stage({
      clock,
      store,
      machine: { overlap: { type: "queue", max: 8 } },
      script: [says("1"), says("2")],
      onObserverError: (error, where) => reported.push(`${where}: ${String(error)}`),
    });
    expect((await host.ask("hi")).text).toBe("1");
    await clock.advance(2_000);
    expect((await host.thread().asked("a"))?.status).toBe("completed");
    expect(answered.toSorted()).toEqual(["bare", "misled", "sound", "strange"]);
    expect(reported).toEqual([
      'inbox: Error: thread "default": an inbox item without an id can\'t be answered, and stays',
      expect.stringContaining('inbox item "bare" was refused: '),
      expect.stringContaining('inbox item "strange" was refused: '),
      expect.stringContaining('inbox item "misled" was refused: "system.reset" can\'t be left as an inbox item'),
    ]);
  });

  test("is no reason not to open the thread, nor is an inbox that gives no list", async () => {
    const reported: string[] = [];
    // JavaScript knows no types.
    const { clock, store } = withInbox(() => ({ unanswered: async () => "letters" as unknown as readonly unknown[] }));
    const { host } = stage({
      clock,
      store,
      script: [says("1")],
      onObserverError: (error) => reported.push(String(error)),
    });
    expect((await host.ask("hi")).text).toBe("1");
    expect(reported).toEqual([expect.stringContaining("it gave string, not a list of inbox items")]);
  });
});

describe("a lease that was lost when an inbox item is answered", () => {
  /** A holder that has a turn open, and whose lease is another's when it answers the inbox item of an ask. */
  const losing = async (whenHeld: "enqueue" | "reject") => {
    const reported: unknown[] = [];
    let lost = false;
    const { clock, inner, store } = withInbox((inbox) => ({
      answer: async (lease, answers) => {
        const isFirst = !lost;
        lost ||= answers.some(({ id }) => id === "letter");
        if (isFirst && lost) throw new LeaseLostError(lease);
        await inbox.answer(lease, answers);
      },
    }));
    const model = held();
    const { host } = stage({
      clock,
      store,
      whenHeld,
      script: [model.step, says("done")],
      onObserverError: (error) => reported.push(error),
    });
    void host.ask("one", { askId: "a" });
    await settle();
    await inboxOf(inner).post("default", { id: "letter", event: asks("b") });
    return { host, store: inner, clock, reported };
  };

  test("is what the asker gets, and no failure of the store", async () => {
    const { host, reported } = await losing("reject");
    expect(await errorOf(host.ask("b", { askId: "b" }))).toBeInstanceOf(LeaseLostError);
    expect(reported).toEqual([]);
  });

  test("ends the loop, and the ask goes on where the thread is now", async () => {
    const { host, store, reported } = await losing("enqueue");
    expect(await errorOf(host.ask("b", { askId: "b" }))).toMatchObject({ refusal: { kind: "busy" } });
    // The open turn continued as well.
    expect(await journalOf(store)).toEqual(["thread.started", "ask.received", "llm.completed"]);
    expect(await inboxOf(store).answerTo("default", "letter")).toMatchObject({ handled: false });
    expect(reported).toEqual([]);
  });
});
