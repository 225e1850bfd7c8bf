import type { JsonObject } from "@colloquy/machine";
import { journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import { test as property } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { type Example, linearise, pairsOf, toTrl, toTrlPreferences } from "../../../src/datasets/index.ts";
import { addedJournal } from "../journal.ts";
import { recordedJournals } from "../recorded.ts";
import { type ChatTemplate, chatTemplates, type RenderedRow } from "../templates.ts";
import { runs } from "../../../../../test/runs.ts";

const said = (content: string) => ({ role: "user", content });
const answered = (content: string) => ({ role: "assistant", content });
const called = (city: string, id = "call00001") => ({
  role: "assistant",
  content: "",
  tool_calls: [{ id, type: "function", function: { name: "weather", arguments: { city } } }],
});
const tools = [{ type: "function", function: { name: "weather", description: "d", parameters: { type: "object" } } }];

/** Checks TRL's prefix law: prompt and completion begin with the prompt. Null if the template refuses either. */
const isPrefix = ({ render }: ChatTemplate, prompt: RenderedRow, completion: readonly unknown[]): boolean | null => {
  const begun = render(prompt, true);
  const whole = render({ ...prompt, messages: [...prompt.messages, ...completion] }, false);
  return begun === null || whole === null ? null : whole.startsWith(begun);
};

/** The templates that keep the law for texts and rounds. Some models' templates never do. */
const lawful = chatTemplates().filter((template) =>
  [
    isPrefix(template, { messages: [said("Hello!"), answered("Hi!"), said("How?")], tools: [] }, [answered("Good.")]),
    isPrefix(template, { messages: [said("Is it clear?")], tools }, [called("Oslo")]),
    ...[answered("It is."), called("Bergen")].map((completion) =>
      isPrefix(
        template,
        {
          messages: [said("Is it clear?"), called("Oslo"), { role: "tool", content: "yes", tool_call_id: "call00001" }],
          tools,
        },
        [completion],
      ),
    ),
  ].every((holds) => holds === true),
);

/** All conversations of one or two of these pieces. Most are unusual, and some templates do not cover them. */
const oddPrompts = ((): readonly (readonly unknown[])[] => {
  const pieces = (place: number): readonly (readonly unknown[])[] => [
    [said("How?")],
    [answered("It is.")],
    [{ role: "system", content: "Be brief." }],
    [called("Oslo", `call0000${place}`), { role: "tool", content: "yes", tool_call_id: `call0000${place}` }],
  ];
  return pieces(0).flatMap((first) => [first, ...pieces(1).map((second) => [...first, ...second])]);
})();

/** The lawful templates that also keep the law without a question, or without an open one. */
const alwaysLawful = lawful.filter((template) =>
  oddPrompts.every((messages) =>
    [answered("Good."), called("Bergen")].every(
      (completion) => isPrefix(template, { messages, tools }, [completion]) !== false,
    ),
  ),
);

/** Returns whether a user asked, and the model must answer the question or the results of its calls. */
const isAsked = (messages: readonly unknown[]): boolean =>
  messages.some((message) => hasRole(message, "user")) &&
  ["user", "tool"].some((role) => hasRole(messages.at(-1), role));

const hasRole = (message: unknown, role: string): boolean =>
  typeof message === "object" && message !== null && "role" in message && message.role === role;

/** Counts the rows that the templates render. Fails if a completion does not follow its prompt. */
const renderedRows = (rows: readonly JsonObject[], every: number): number => {
  let rendered = 0;
  for (const [index, row] of rows.entries()) {
    const messages = list(row, "prompt");
    const templates = isAsked(messages) ? lawful : alwaysLawful;
    for (const template of templates.filter(({ place }) => (place + index) % every === 0)) {
      const holds = isPrefix(template, { messages, tools: list(row, "tools") }, list(row, "completion"));
      expect(holds, `template ${template.place}: ${JSON.stringify(row)}`).not.toBe(false);
      if (holds === true) rendered++;
    }
  }
  return rendered;
};

const list = (row: JsonObject, field: string): readonly unknown[] => {
  const value = row[field];
  return Array.isArray(value) ? value : [];
};

describe("rows of TRL", () => {
  const journal = addedJournal([
    {
      type: "turn.added",
      at: 1,
      messages: [
        { role: "user", content: "Is it clear?" },
        { role: "assistant", toolCalls: [{ id: "c1", name: "weather", arguments: '{"city":"Oslo"}' }] },
        { role: "tool", toolCallId: "c1", content: "clear" },
        { role: "assistant", content: "It is." },
      ],
    },
  ]);
  const prompt = [
    said("Is it clear?"),
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: { city: "Oslo" } } }],
    },
    { role: "tool", content: "clear", tool_call_id: "c1" },
  ];
  const completion = [answered("It is.")];

  it("have arguments as objects, and what is trained apart or at the end", () => {
    const { examples } = linearise([journal]);
    expect(toTrl(examples).rows).toEqual([{ prompt, completion }]);
    expect(toTrl(examples, { as: "messages" }).rows).toEqual([{ messages: [...prompt, ...completion] }]);
  });

  it("have two replies to one prompt where they are pairs", () => {
    const { examples } = linearise([journal]);
    const scored = examples.flatMap((example): readonly Example[] => [
      { ...example, score: 0 },
      { ...example, score: 1, reply: { ...example.reply, parts: [{ type: "text", text: "Yes." }], digest: "other" } },
    ]);
    expect(toTrlPreferences(pairsOf(scored).pairs).rows).toEqual([
      { prompt, chosen: [answered("Yes.")], rejected: completion },
    ]);
  });
});

describe("the prefix law over real chat templates", () => {
  it("is kept by most templates by themselves", () => {
    expect(lawful.length).toBeGreaterThanOrEqual(60);
    expect(alwaysLawful.length).toBeGreaterThanOrEqual(50);
  });

  property.prop([journalArbitrary()], { numRuns: runs(60) })("holds for random conversations", (entries) => {
    const { examples } = linearise([{ name: "t", entries }], { per: "step", turns: "all" });
    renderedRows(toTrl(examples).rows, 6);
  });

  it("holds for the recorded conversations", () => {
    const journals = recordedJournals();
    const { rows } = toTrl(
      linearise(
        journals.filter((_, index) => index % 10 === 0),
        { per: "step" },
      ).examples,
    );
    const rendered = renderedRows(rows, 30);
    expect(rendered).toBeGreaterThanOrEqual(rows.length);
  });
});
