import { expect, test } from "vitest";
import type { HostContext } from "../../src/context/host-context.ts";
import { Observation } from "../../src/context/hooks.ts";
import { openJournal } from "../../src/journal/opening.ts";
import { entriesOf, stage, stored, written } from "../stage.ts";

test("a thread that is opened from a snapshot knows the newest of the entries after it", async () => {
  const { clock, inner: store } = stored();
  const add = async (turns: number, snapshotEvery: number): Promise<void> => {
    const { host } = stage({ clock, store, snapshotEvery });
    if (snapshotEvery > 0) await host.thread().start();
    for (let turn = 1; turn <= turns; turn++) await host.thread().addTurn(written(turn));
    await host.close();
  };
  const reported: unknown[] = [];
  const observation = new Observation({}, [], (error) => reported.push(error));
  // Opening a journal uses no other members.
  const context = { store, snapshotEvery: 4, observation } as unknown as HostContext;
  await add(3, 4);
  const atSnapshot = await openJournal(context, "default", null);
  expect([atSnapshot?.snapshotSeq, atSnapshot?.newest.seq]).toEqual([3, 3]);
  await add(4, 0);
  const opened = await openJournal(context, "default", null);
  expect([opened?.snapshotSeq, opened?.newest.seq, opened?.state.context.seq]).toEqual([3, 7, 7]);
  expect(opened?.newest).toEqual((await entriesOf(store)).at(-1));
  expect(reported).toEqual([]);
});
