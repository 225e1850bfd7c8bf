import { turnsOf } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { journalOf, says, stage, texts } from "../stage.ts";

const talk = (...answers: readonly string[]) => stage({ script: answers.map(says), thread: { system: "Be kind." } });

describe("writing", () => {
  test("a turn by hand, a score, metadata, and how much was spoken", async () => {
    const { host, store } = talk("1");
    const thread = host.thread();
    await thread.addTurn([
      { role: "user", content: "by hand" },
      { role: "assistant", content: "written" },
    ]);
    await thread.annotate(1, "score", 0.5, { by: "ann" });
    await thread.truncate(1, 3);
    await thread.setMetadata({ title: "A thread" });
    const state = await thread.state();
    expect(await texts(thread)).toEqual(["by hand", "wri"]);
    expect(state?.context.metadata).toEqual({ title: "A thread" });
    expect(state === null ? [] : turnsOf(state)[0]?.annotations).toMatchObject([
      { name: "score", value: 0.5, metadata: { by: "ann" } },
    ]);
    expect(await host.threads({ metadata: { title: "A thread" } })).toMatchObject({
      threads: [{ threadId: "default" }],
      next: null,
    });
    expect(await journalOf(store)).toEqual([
      "thread.started",
      "turn.added",
      "turn.annotated",
      "answer.truncated",
      "metadata.changed",
    ]);
  });
});
