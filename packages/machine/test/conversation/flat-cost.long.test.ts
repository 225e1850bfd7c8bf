import { expect, test } from "vitest";
import { conversationMachine, start } from "../../src/index.ts";
import { calling, Talk } from "../talk.ts";

/** Returns all objects and lists inside a value, and the value. */
const partsOf = (value: unknown, parts = new Set<unknown>()): Set<unknown> => {
  if (typeof value !== "object" || value === null || parts.has(value)) return parts;
  parts.add(value);
  for (const inner of Object.values(value)) partsOf(inner, parts);
  return parts;
};

/** Counts the parts of a state that it does not share with the previous one: objects, and references in them. */
const copied = (old: ReadonlySet<unknown>, now: ReadonlySet<unknown>): number => {
  let references = 0;
  for (const part of now) if (!old.has(part)) references += 1 + Object.keys(part as object).length;
  return references;
};

const conversationOf = (turns: number): Talk => {
  const talk = new Talk(conversationMachine({ tools: [{ name: "search" }] }), { system: "Be brief." });
  for (let turn = 0; turn < turns; turn++) {
    talk.tell({
      type: "turn.added",
      messages: [
        { role: "user", content: "?" },
        { role: "assistant", content: "!" },
      ],
    });
  }
  return talk;
};

/** Returns the most parts that one event of a turn copies. */
const mostCopied = (talk: Talk): number => {
  let most = 0;
  let old = partsOf(talk.state);
  const watch = (tell: () => void) => {
    tell();
    const now = partsOf(talk.state);
    most = Math.max(most, copied(old, now));
    old = now;
  };
  watch(() => talk.ask("Go."));
  watch(() => talk.reply(calling("search", "search")));
  watch(() => talk.result(0, "found"));
  watch(() => talk.result(1, "found"));
  watch(() => talk.reply("Done."));
  watch(() => talk.tell({ type: "turn.annotated", turn: 1, name: "score", value: 1 }));
  watch(() => talk.tell({ type: "answer.truncated", turn: 1, characters: 0 }));
  watch(() => talk.tell({ type: "head.moved", to: 3 }));
  return most;
};

test("an event copies as little at turn 10,000 as at turn 10, but for a level of chunks or two", () => {
  const few = mostCopied(conversationOf(10));
  const many = mostCopied(conversationOf(10_000));
  expect(many).toBeLessThan(few + 32 * 4);
});

test("the state of a new thread is small", () => {
  const { state } = start(conversationMachine(), { threadId: "t", at: 0 });
  expect(JSON.stringify(state).length).toBeLessThan(1_500);
});
