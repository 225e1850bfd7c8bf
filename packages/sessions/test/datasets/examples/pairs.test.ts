import { messageFromDraft, messageFromReply } from "@colloquy/machine";
import fc from "fast-check";
import { test as property } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { type Example, linearise, pairsOf } from "../../../src/datasets/index.ts";
import { stage } from "../stage.ts";

const example = (question: string, answer: string, score: number | null): Example => ({
  thread: "t",
  turn: 1,
  step: 1,
  prompt: [messageFromDraft("1.0", { role: "user", content: question })],
  reply: messageFromReply("1.1", "1.1", { content: answer }),
  tools: [],
  model: {},
  kept: true,
  score,
  tokens: null,
});

describe("pairs", () => {
  it("are the best and the worst reply to a prompt, or each two that differ", () => {
    const examples = [example("Q", "a", 1), example("Q", "b", 3), example("Q", "c", 2), example("other", "d", 9)];
    const words = (which: "bestAndWorst" | "all") =>
      pairsOf(examples, { which }).pairs.map(({ chosen, rejected }) => [chosen.score, rejected.score]);
    expect(words("bestAndWorst")).toEqual([[3, 1]]);
    expect(words("all")).toEqual([
      [3, 2],
      [3, 1],
      [2, 1],
    ]);
  });

  it("leave out what says nothing about which is better, and count it", () => {
    const examples = [
      example("tie", "a", 1),
      example("tie", "b", 1),
      example("same", "a", 1),
      example("same", "a", 0),
      example("alone", "a", 1),
      example("alone", "b", null),
    ];
    expect(pairsOf(examples)).toEqual({ pairs: [], leftOut: { alone: 1, ties: 1, same: 1, unscored: 1 } });
  });

  it("are not made of replies that differ in the ids of their calls alone", () => {
    const calling = (id: string, score: number): Example => ({
      ...example("Q", "", score),
      reply: messageFromReply("1.1", "1.1", {
        toolCalls: [{ id, name: "f", arguments: "{}" }],
      }),
    });
    expect(pairsOf([calling("a", 1), calling("b", 0)]).leftOut.same).toBe(1);
  });

  it("are made from forks of one thread, of the answers to the same question", async () => {
    const { host, journal } = stage(async ({ messages, threadId }) => ({
      type: "completed",
      reply: { content: `${threadId} ${messages.length}` },
      finishReason: "stop",
    }));
    const thread = host.thread("t");
    await thread.ask("Q1");
    const { thread: fork } = await thread.fork();
    for (const each of [thread, fork]) await each.ask("Q2");
    await thread.annotate(2, "score", false);
    await fork.annotate(2, "score", true);
    await host.close();
    const { examples } = linearise([await journal("t"), await journal(fork.id)]);
    const { pairs } = pairsOf(examples);
    expect(pairs.map(({ chosen, rejected }) => [chosen.thread, rejected.thread])).toEqual([[fork.id, "t"]]);
  });

  property.prop([
    fc.array(
      fc.record({
        question: fc.constantFrom("p", "q"),
        answer: fc.constantFrom("a", "b", "c"),
        score: fc.option(fc.nat({ max: 3 })),
      }),
      { maxLength: 8 },
    ),
  ])("as a slow look at each two says", (drawn) => {
    const examples = drawn.map(({ question, answer, score }) => example(question, answer, score));
    const expected = examples.flatMap((one) =>
      examples.filter(
        (other) =>
          one.score !== null &&
          other.score !== null &&
          one.score > other.score &&
          one.prompt[0]?.digest === other.prompt[0]?.digest &&
          one.reply.digest !== other.reply.digest,
      ),
    );
    expect(pairsOf(examples, { which: "all" }).pairs).toHaveLength(expected.length);
    for (const { chosen, rejected } of pairsOf(examples).pairs) {
      const rivals = examples.filter(
        ({ prompt, score }) => prompt[0]?.digest === chosen.prompt[0]?.digest && score !== null,
      );
      const scores = rivals.map(({ score }) => score ?? 0);
      expect([chosen.score, rejected.score]).toEqual([Math.max(...scores), Math.min(...scores)]);
    }
  });
});
