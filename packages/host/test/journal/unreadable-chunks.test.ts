// A store in which the snapshot is there, and a part of it can't be read: the disk is damaged, or somebody locked it.
import { memoryStore, type Store } from "@colloquy/host";
import { messagesOf } from "@colloquy/machine";
import { expect, test } from "vitest";
import { overriding } from "../gated-store.ts";
import { manualClock, says, stage } from "../stage.ts";

const damaged = (inner: Store, reads: () => void): Store =>
  overriding(inner, {
    readSnapshot: async (threadId) => {
      const kept = await inner.readSnapshot(threadId);
      return (
        kept && {
          ...kept,
          chunk: () => {
            reads();
            throw new Error("SQLITE_IOERR: disk I/O error");
          },
        }
      );
    },
  });

test("chunks that the store throws for cost no turn and no look: the journal has them", async () => {
  const clock = manualClock();
  const inner = memoryStore({ clock });
  const first = stage({ clock, store: inner, snapshotEvery: 8 });
  const thread = first.host.thread();
  await thread.start();
  for (let turn = 1; turn <= 100; turn++)
    await thread.addTurn([
      { role: "user", content: `question ${turn}` },
      { role: "assistant", content: `answer ${turn}` },
    ]);
  await first.host.close();
  let read = 0;
  const errors: string[] = [];
  const store = damaged(inner, () => read++);
  const onObserverError = (_: unknown, where: string) => void errors.push(where);
  const another = () =>
    stage({ clock, store, snapshotEvery: 8, onObserverError, script: [says("ok"), says("ok")] }).host;
  const looking = another().thread();
  const state = await looking.state();
  expect(state === null ? 0 : messagesOf(state).length).toBe(200);
  expect(await looking.explain()).not.toBeNull();
  expect(await looking.asks()).toEqual([]);
  const using = another();
  expect(await using.ask("go", { askId: "go" })).toMatchObject({ text: "ok", turn: 101 });
  await using.close();
  const moving = another();
  await moving.thread().moveHead(3);
  expect((await moving.thread().undo(2)).map(({ number }) => number)).toEqual([3, 2]);
  expect(await moving.ask("again", { askId: "again" })).toMatchObject({ turn: 102 });
  await moving.close();
  expect(read).toBeGreaterThan(0);
  expect(new Set(errors)).toEqual(new Set(["snapshot"]));
});
