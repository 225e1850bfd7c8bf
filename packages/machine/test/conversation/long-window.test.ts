import { expect, test } from "vitest";
import { conversationMachine, messagesOf, promptOf } from "../../src/index.ts";
import { countPrompt, tokenWindow } from "../../src/policies.ts";
import { characterCounter } from "../hand-made.ts";
import { Talk } from "../talk.ts";

// Of a long thread, whose turns lie together in runs, a window shows as many messages as fit, as of a short one.

test("a window of a long thread shows as many messages as fit, each answer with its question", () => {
  const talk = new Talk(conversationMachine());
  for (let turn = 1; turn <= 100; turn++) {
    talk.ask(`question ${turn}`.padEnd(40, "."));
    talk.reply(`answer ${turn}`.padEnd(60, "."));
  }
  const all = messagesOf(talk.state);
  const sizes = Array.from({ length: 100 }, (_, turns) => countPrompt(characterCounter, all.slice(200 - 2 * turns)));
  for (const turns of [1, 3, 4, 5, 31, 32, 33, 35, 36, 37, 40, 64, 67, 68, 69, 70, 99]) {
    for (const [tokens, shown] of [
      [sizes[turns] ?? 0, 2 * turns],
      [(sizes[turns] ?? 0) + 1, 2 * turns],
      [(sizes[turns] ?? 0) - 1, 2 * turns - 2],
    ] as const) {
      const machine = conversationMachine({ policy: tokenWindow({ tokens }), counter: characterCounter });
      expect(promptOf(machine, talk.state).messages).toHaveLength(shown);
    }
  }
});
