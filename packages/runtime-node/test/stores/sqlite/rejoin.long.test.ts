import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { beforeEach, expect, test } from "vitest";

import type { AskPart } from "@colloquy/host";
import { createHost } from "../../../src/host.ts";
import { systemClock } from "../../../src/ports/system.ts";
import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts";
import { newFolder } from "../folder.ts";

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

test("a reader in another process is shown what was shown before a kill -9, that it is void, and the step that is made anew", async () => {
  const path = join(folder, "store.db");
  const writer = fork(new URL("killed-in-stream.ts", import.meta.url), [path]);
  let aheadMs = 0;
  const now = (): number => systemClock.now() + aheadMs;
  const store = sqliteStore({ path, clock: { ...systemClock, now } });
  const host = createHost({
    store,
    partsMs: 5,
    pollMs: 5,
    llm: async (_, { onDelta }) => {
      onDelta({ type: "text", text: "a whole answer" });
      return { type: "completed", reply: { content: "a whole answer" }, finishReason: "stop" };
    },
  });
  try {
    await once(writer, "message");
    const parts: AskPart[] = [];
    let cursor: string | null = null;
    const rejoined = host.thread("thread").rejoin("a");
    for await (const part of rejoined) {
      parts.push(part);
      if (part.type !== "text.delta" || cursor !== null) continue;
      cursor = rejoined.cursor;
      writer.kill("SIGKILL");
      // The dead process's lease expires.
      aheadMs = 120_000;
    }
    const place = { turn: 1, step: 1 } as const;
    const anew: readonly AskPart[] = [
      { type: "thread.lost", turn: 1 },
      { type: "step.started", ...place },
      { type: "text.delta", ...place, attempt: 1, text: "a whole answer" },
      { type: "step.ended", ...place },
      { type: "turn.ended", turn: 1, status: "completed" },
    ];
    expect(parts.filter(({ type }) => !type.startsWith("wait."))).toEqual([
      { type: "turn.started", turn: 1, askIds: ["a"] },
      { type: "step.started", ...place },
      { type: "text.delta", ...place, attempt: 1, text: "half of an ans" },
      ...anew,
    ]);
    // A reader that continues after the cursor sees no part twice.
    const behind: AskPart[] = [];
    for await (const part of host.thread("thread").rejoin("a", { from: cursor ?? "" })) behind.push(part);
    expect(behind).toEqual(anew);
  } finally {
    writer.kill("SIGKILL");
    await host.close();
    await store.close();
  }
});
