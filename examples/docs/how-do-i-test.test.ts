// A test without a key, and a property, for docs/how-do-i-run.md.
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { type PromptView, reply, ruleModel, scriptedModel } from "@colloquy/runtime-test/models";
import fc from "fast-check";
import { expect, test } from "vitest";

test("the second question is asked with the first answer", async () => {
  const llm = scriptedModel([
    reply("A line.", { expects: "What is a queue?" }),
    reply("Of people.", { expects: ({ messages }) => messages[1]?.text === "A line." }),
  ]);
  const host = createHost({ llm, store: memoryStore() });
  await host.ask("What is a queue?");
  expect((await host.ask("Of what?")).text).toBe("Of people.");
  llm.assertComplete(); // no line is left
  await host.close();
});

test("whatever a user writes is answered, and kept as it is", async () => {
  const echo = ({ lastUserText }: PromptView) => `You wrote: ${lastUserText}`;
  const llm = ruleModel([{ name: "echo", when: () => true, answer: echo }]);
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1, unit: "grapheme" }), async (text) => {
      const host = createHost({ llm, store: memoryStore() });
      expect((await host.ask(text)).text).toBe(`You wrote: ${text}`);
      await host.close();
    }),
  );
});
