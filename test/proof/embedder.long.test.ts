import { performerOf } from "@colloquy/host/perform";
import { askNamed, type ExpectedOutput, textOf, toArray, type Turn, turnNumbered } from "@colloquy/machine";
import { expect, it } from "vitest";

import { openThread } from "../../examples/docs/embedder.ts";
import { crashAtPoints, memoryPlace } from "../../proof/chaos/points/target.ts";
import type { Life, LifeParts } from "../../proof/chaos/story/life.ts";
import { story, storyMachine } from "../../proof/chaos/story/script.ts";
import { table } from "../../proof/chaos/story/table.ts";

/** Starts a process with the loop of docs/conversation.md, which opens the thread at once. */
const embedderLife = ({ store, llm, tools, clock, sleep }: LifeParts): Life => {
  const opening = openThread(
    store,
    performerOf({ machine: storyMachine(), llm, tools, clock }),
    story.threadId,
    "crashed",
  );
  const opened = async () => {
    const thread = await opening;
    if (thread === null) throw new Error("another process has the thread");
    return thread;
  };
  return {
    ask: async (askId) => {
      const thread = await opened();
      const output = expectedOutputs[askId];
      await thread.enqueue({ type: "ask.received", at: clock.now(), askId, input: askId, ...(output && { output }) });
      for (;;) {
        const state = thread.state();
        const turn = state === null ? null : (askNamed(state, askId)?.turn ?? null);
        const ended = state === null || turn === null ? undefined : turnNumbered(state, turn);
        if (ended !== undefined) return { turn: ended.number, text: lastText(ended) };
        await sleep(1);
      }
    },
    state: async () => (await opened()).state(),
    approve: async ({ id, digest }, approved) => {
      const thread = await opened();
      await thread.enqueue({ type: "approval.answered", at: clock.now(), effectId: id, digest, approved });
    },
    close: async () => (await opened()).close(),
  };
};

/** The expected outputs as events hold them; a host makes them from the options of `ask`. */
const expectedOutputs: { readonly [askId: string]: ExpectedOutput | undefined } = {
  "farewell 5": { name: "farewell", schema: { type: "object" }, mode: "prompted", repairs: 2 },
};

const lastText = ({ messages }: Turn): string => {
  const last = toArray(messages).at(-1);
  return last === undefined ? "" : textOf(last);
};

it("R2: the loop that docs/conversation.md shows leaves what the table says, killed at each append and each effect", async () => {
  const { points, crashes, problems, rows } = await crashAtPoints(memoryPlace, { begin: embedderLife });
  expect(problems).toEqual([]);
  expect(points).toBeGreaterThan(90);
  expect(crashes).toBe(points);
  expect([...rows.keys()].sort()).toEqual(table.map(({ name }) => name).sort());
});
