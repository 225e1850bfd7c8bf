import type { ExpectedOutput, Json, OutputIssue } from "../../src/index.ts";
import { ask, call, calls, reply, result, type Story } from "./story.ts";

const title: ExpectedOutput = { name: "title", schema: { type: "object" }, mode: "native", repairs: 1 };

const accepted = (at: number, effectId: string, value: Json) =>
  ({ type: "output.accepted", at, effectId, value }) as const;
const refused = (at: number, effectId: string, ...issues: readonly OutputIssue[]) =>
  ({ type: "output.refused", at, effectId, issues }) as const;
const cutOff = (at: number, effectId: string, content: string) =>
  ({ type: "llm.completed", at, effectId, reply: { content }, finishReason: "length" }) as const;

export const outputStories: readonly Story[] = [
  {
    name: "output-repaired",
    options: { tools: [{ name: "look" }] },
    told: [
      ask(2, "a", "A title?", { output: title }),
      "A reply with tool calls is none that is checked.",
      calls(3, "t/1.1#1", [call("look", "{}")]),
      result(4, "t/1.1.0#1", "a poem"),
      reply(5, "t/1.2#1", '{"title":1}'),
      "What was refused stands in the prompts of its own turn, with what is wrong.",
      { type: "message.appended", at: 6, message: { role: "user", content: "Quick!" } },
      refused(7, "t/1.2!output", { path: ["title"], message: "expected text" }, { message: "too plain" }),
      "An answer to it that comes twice is stale.",
      accepted(8, "t/1.2!output", {}),
      reply(9, "t/1.3#1", '{"title":"Autumn"}'),
      accepted(10, "t/1.3!output", { title: "Autumn" }),
      "The next prompt shows the answer, and nothing of what was refused.",
      ask(11, "b", "Why that one?"),
    ],
  },
  {
    name: "output-not-had",
    told: [
      "No answer fits, and no repairs are left.",
      ask(2, "a", "A title?", { output: { ...title, repairs: 1 } }),
      reply(3, "t/1.1#1", "Autumn"),
      refused(4, "t/1.1!output", { message: "it is not valid JSON" }),
      reply(5, "t/1.2#1", "Autumn!"),
      refused(6, "t/1.2!output", { message: "it is not valid JSON" }),
      "A limit stands before a repair.",
      ask(7, "b", "A title?", { output: title, limits: { steps: 1 } }),
      reply(8, "t/2.1#1", "Winter"),
      refused(9, "t/2.1!output", { message: "it is not valid JSON" }),
      "A reply that is cut off is not repaired, nor is one in which the model declines.",
      ask(10, "c", "A title?", { output: title }),
      cutOff(11, "t/3.1#1", '{"title":"Sp'),
      ask(12, "d", "A title?", { output: title }),
      {
        type: "llm.completed",
        at: 13,
        effectId: "t/4.1#1",
        reply: { content: [{ type: "refusal", text: "I won't." }] },
        finishReason: "stop",
      },
      "Where the check itself failed, the model could mend nothing.",
      ask(14, "e", "A title?", { output: title }),
      reply(15, "t/5.1#1", "{}"),
      { ...refused(16, "t/5.1!output", { message: "the validator threw" }), checkFailed: true },
    ],
  },
  {
    name: "output-called-off",
    options: { overlap: { type: "steer", max: 2 } },
    told: [
      "Asks that join the turn while its answer is checked are shown next, whatever that comes to.",
      ask(2, "a", "A title?", { output: title }),
      reply(3, "t/1.1#1", '{"title":"Autumn"}'),
      ask(4, "b", "A longer one."),
      accepted(5, "t/1.1!output", { title: "Autumn" }),
      reply(6, "t/1.2#1", '{"title":"Autumn in Paris"}'),
      ask(7, "c", "Longer still."),
      refused(8, "t/1.2!output", { message: "too long" }),
      reply(9, "t/1.3#1", '{"title":"Paris"}'),
      "A check is called off with its turn; what was said is kept, and is no output.",
      { type: "cancel.requested", at: 10, reason: "enough" },
      accepted(11, "t/1.3!output", { title: "Paris" }),
    ],
  },
];
