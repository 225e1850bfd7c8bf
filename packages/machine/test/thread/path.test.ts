import { expect, test } from "vitest";
import { conversationMachine } from "../../src/index.ts";
import { PathWalk } from "../../src/thread/thread.ts";
import { chunkSize } from "../../src/thread/chunks.ts";
import { Talk } from "../talk.ts";

test("a walk towards the beginning steps over whole chunks of turns", () => {
  const talk = new Talk(conversationMachine());
  for (let turn = 1; turn <= 2 * chunkSize; turn++)
    talk.tell({ type: "turn.added", messages: [{ role: "user", content: "Hello" }] });
  const walk = new PathWalk(talk.state.context.conversation);
  const runs: (readonly (number | undefined)[])[] = [];
  for (let run = walk.wholeRun(); run !== undefined; run = walk.wholeRun()) {
    runs.push([run[0]?.number, run.at(-1)?.number]);
    walk.leave(0);
  }
  expect(runs).toEqual([
    [chunkSize + 1, 2 * chunkSize],
    [1, chunkSize],
  ]);
  expect(walk.turn).toBeUndefined();
});
