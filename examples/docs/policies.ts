// Shows the prompts of a long-lived agent. docs/prompts.md explains it.
import { clearResults, compose, fitOversized, limitResults, tokenWindow } from "@colloquy/machine/policies";
import { conversationMachine, promptOf, start, transition } from "@colloquy/machine";

const machine = conversationMachine({
  budget: { tokens: 32_000, reserve: 4_000 },
  policy: compose(
    limitResults({ characters: 8_000 }), // the longest shown tool result
    clearResults({ keep: 5, slack: 5 }), // without room, clears older results first
    fitOversized(), // if the open turn does not fit, shortens its longest texts
    tokenWindow({ cutTo: 0.6 }), // then drops the oldest turns; cuts deep, and seldom
  ),
});

let { state } = start(machine, { threadId: "long", at: 0 });
for (let turn = 1; turn <= 400; turn++) {
  const messages = [
    { role: "user" as const, content: `Question ${turn}: ${"what about this? ".repeat(20)}` },
    { role: "assistant" as const, content: "It depends. ".repeat(30) },
  ];
  ({ state } = transition(machine, state, { type: "turn.added", messages, at: turn }));
}

const { tokens, available, cut, reason } = promptOf(machine, state);
console.log(`${tokens} of ${available} tokens, from turn ${cut.from?.turn} on: ${reason}`);
