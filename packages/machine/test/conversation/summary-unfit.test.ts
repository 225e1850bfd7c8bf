import { describe, expect, test } from "vitest";
import { conversationMachine, type Handled, type MachineOptions } from "../../src/index.ts";
import { compactTurns, type Policy, summariseTurns } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { Talk } from "../talk.ts";

// In a small room the request for a summary does not fit, however short what it is about. Nothing is sent then, and nobody
// is to be told so at each turn.

const roomOf = (tokens: number): MachineOptions => ({ budget: { tokens, reserve: 0 }, calibrate: false });

/** So many turns, each of its summaries answered; gives how many were reported as failed, and how many were asked for. */
const goOn = (talk: Talk, turns: number): { readonly failed: number; readonly asked: number } => {
  let asked = 0;
  let failed = 0;
  const look = ({ effects }: Handled): void => {
    for (const effect of effects) {
      if (effect.type === "callLlm" && effect.purpose === "summary") asked++;
      if (effect.type === "publish" && effect.signal.type === "summary.failed") failed++;
    }
  };
  for (let turn = 0; turn < turns; turn++) {
    look(talk.ask("What is it about, and why? ".repeat(2)));
    for (let out = talk.out(); out.length > 0; out = talk.out()) {
      const summary = out.find((effect) => effect.type === "callLlm" && effect.purpose === "summary");
      const effectId = (summary ?? out[0])?.id ?? "";
      const content = summary === undefined ? "An answer of some length, it is. ".repeat(2) : "They talked.";
      look(talk.tell({ type: "llm.completed", effectId, reply: { content }, finishReason: "stop" }));
    }
  }
  return { failed, asked };
};

const policies: readonly (readonly [string, Policy])[] = [
  ["compactTurns", compactTurns()],
  ["compactTurns of one turn", compactTurns({ keepTurns: 1, at: 0.5 })],
  ["summariseTurns", summariseTurns()],
  ["summariseTurns of five", summariseTurns({ maxTurns: 5 })],
];

describe("a request for a summary that does not fit", () => {
  test.each(policies)("is reported once where none ever fits, and made when there is room: %s", (_, policy) => {
    const talk = new CheckedTalk({ policy, ...roomOf(150) });
    expect(goOn(talk, 15)).toEqual({ failed: 1, asked: 0 });
    talk.replays();
    const wide = talk.under({ policy, ...roomOf(400) });
    expect(goOn(wide, 3)).toMatchObject({ failed: 0, asked: expect.toSatisfy((asked: number) => asked > 0) });
  });

  test.each(policies)("is reported ever more rarely where a shorter turn might fit: %s", (_, policy) => {
    const talk = new Talk(conversationMachine({ policy, ...roomOf(200) }));
    const first = goOn(talk, 50);
    const later = goOn(talk, 50);
    expect(first.asked + later.asked).toBe(0);
    expect(first.failed).toBeLessThanOrEqual(26);
    expect(later.failed).toBeLessThanOrEqual(6);
  });

  test("does without earlier turns where they are only there to be understood by", () => {
    const talk = new CheckedTalk({ policy: summariseTurns(), ...roomOf(300) });
    expect(goOn(talk, 20)).toEqual({ failed: 0, asked: 20 });
    expect(talk.entries.at(-2)).toMatchObject({ decided: { summary: { earlier: null, characters: 100 } } });
  });
});
