import { ConfigurationError, messageFromDraft, messageFromReply, messageFromResult } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jinjaTemplate, type JinjaTemplateOptions } from "../../../src/templates/jinja/index.ts";
import { strftime } from "../../../src/templates/jinja/jinja-template.ts";
import { conversation } from "../conversations.ts";
import { modelTemplates } from "./model-templates.ts";
import { runs } from "../../../../../test/runs.ts";

const right = (value: string): object => ({ _tag: "Right", right: value });
const left = (reason: RegExp): object => ({ _tag: "Left", left: expect.stringMatching(reason) });
const hello = conversation("Be gentle.", "Hello !");

const chatMl = jinjaTemplate(
  `{{ bos_token }}{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}
{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`,
  { bosToken: "<s>", eosToken: "<|im_end|>" },
);

test("a chat template is rendered with its tokens, and ends where the answer begins", () => {
  const said = "<s><|im_start|>system\nBe gentle.<|im_end|>\n<|im_start|>user\nHello !<|im_end|>\n";
  expect(chatMl.render(hello)).toEqual(right(`${said}<|im_start|>assistant\n`));
  expect(chatMl.render(hello, { addGenerationPrompt: false })).toEqual(right(said));
  expect(chatMl.render(hello, { system: "OVR" })).toEqual(
    right(`${said.replace("Be gentle.", "OVR")}<|im_start|>assistant\n`),
  );
  expect(chatMl.stop).toEqual(["<|im_end|>"]);
});

test("its identity changes with its text and its options", () => {
  const options = [jinjaTemplate("a"), jinjaTemplate("b"), jinjaTemplate("a", { variables: { think: false } })].map(
    (each) => JSON.stringify(each.options),
  );
  expect(new Set(options).size).toBe(3);
});

test("variables reach the template, and the time only if it is given", () => {
  const dated = jinjaTemplate("{{ think }} {{ strftime_now('%d %b %Y') if strftime_now is defined else 'no date' }}", {
    variables: { think: "no" },
  });
  expect(dated.render(hello)).toEqual(right("no no date"));
  expect(dated.render(hello, { at: Date.UTC(2026, 10, 5) })).toEqual(right("no 05 Nov 2026"));
});

test("a time is written as Python writes it, in UTC", () => {
  const at = Date.UTC(2026, 10, 5, 9, 7, 3);
  expect(strftime(at, "%a %A %b %B %d %H:%M:%S %m %y %Y %% %Q")).toBe(
    "Thu Thursday Nov November 05 09:07:03 11 26 2026 % %Q",
  );
});

test("a template receives messages and tools in the form that transformers gives them", () => {
  const shown = jinjaTemplate("{{ messages | tojson }} {{ tools | tojson }} {{ documents | tojson }}");
  const tools = [{ name: "f" }, { name: "g", description: "G.", parameters: { type: "object", title: "g" } }];
  const written = ['{"n":1}', "[1]", "null", "no JSON"];
  const toolCalls = written.map((text, index) => ({ id: index === 0 ? "p" : null, name: "f", arguments: text }));
  const reasoning = (text: string) => ({ type: "reasoning", text }) as const;
  const messages = [
    messageFromDraft("s", { role: "developer", content: "Be brief." }),
    messageFromDraft("1.0", { role: "user", name: "ada", content: [{ type: "data", field: "q", value: [1] }] }),
    messageFromReply("1.1", "1.1", { content: [reasoning("h"), reasoning("m"), { type: "text", text: "A" }] }),
    messageFromReply("1.2", "1.2", { toolCalls }),
    messageFromResult({ callId: "1.2.0", providerCallId: "p", name: "f" }, "completed", [{ type: "text", text: "4" }]),
    messageFromResult({ callId: "1.2.1", providerCallId: null, name: "f" }, "completed", []),
  ];
  const rendered = shown.render(messages, { tools });
  const call = (id: string, args: unknown) => ({ id, type: "function", function: { name: "f", arguments: args } });
  const object = { type: "object", properties: {} };
  const expected = [
    [
      { role: "system", content: "Be brief." },
      { role: "user", content: "q: [1]", name: "ada" },
      { role: "assistant", content: "A", reasoning_content: "h\nm" },
      {
        role: "assistant",
        content: "",
        tool_calls: [
          call("p", { n: 1 }),
          ...["[1]", "null", "no JSON"].map((text, index) => call(`1.2.${index + 1}`, text)),
        ],
      },
      { role: "tool", content: "4", name: "f", tool_call_id: "p" },
      { role: "tool", content: "", name: "f", tool_call_id: "1.2.1" },
    ],
    [
      { type: "function", function: { name: "f", description: "", parameters: object } },
      { type: "function", function: { name: "g", description: "G.", parameters: { type: "object", title: "g" } } },
    ],
    null,
  ];
  const read = (text: string): unknown => JSON.parse(`[${text.replaceAll(/(?<=[\]l]) (?=[[n])/gu, ",")}]`);
  expect(Either.isRight(rendered) ? read(rendered.right) : rendered.left).toEqual(expected);
  const none = jinjaTemplate("{{ tools is none }}").render(hello);
  expect([none, jinjaTemplate("{{ tools is none }}").render(hello, { tools })]).toEqual([
    right("true"),
    right("false"),
  ]);
});

test.each([
  ["range(3)", "0,1,2"],
  ["range(1, 3)", "1,2"],
  ["range(3, 0, -2)", "3,1"],
  ["range(3, 0)", ""],
  ["range(100000)", "0,"],
])("%s gives the same numbers as in Python", (code, begins) => {
  const rendered = jinjaTemplate(`{{ ${code} | join(",") }}`).render(hello);
  expect(Either.isRight(rendered) ? rendered.right.slice(0, Math.max(begins.length, 2)) : rendered.left).toBe(begins);
});

describe("a failed rendering is a left", () => {
  test("if the template raises an error", () => {
    const strict = jinjaTemplate("{{ raise_exception('roles must alternate') }}");
    expect(strict.render(hello)).toEqual(left(/can't render this conversation: roles must alternate/u));
  });

  test("an image, and tools that the template does not render", () => {
    const image = messageFromDraft("1.0", {
      role: "user",
      content: [{ type: "image", url: "https://a.example/b.png" }],
    });
    expect(chatMl.render([image])).toEqual(left(/message 1\.0 has an image/u));
    const file = messageFromDraft("1.0", { role: "user", content: [{ type: "opaque", value: { file: "x" } }] });
    expect(chatMl.render([file])).toEqual(left(/message 1\.0 has an attachment/u));
    expect(chatMl.render(hello, { tools: [{ name: "look" }] })).toEqual(left(/renders no tools/u));
  });

  test.each([
    {
      what: "loops in loops",
      text: "{% set r = range(99999) %}{% for a in r %}{% for b in r %}{% endfor %}{% endfor %}",
    },
    { what: "a range of one entry too many", text: "{% for a in range(100001) %}{% endfor %}" },
    { what: "a range without end", text: "{% for a in range(1000000000) %}{% endfor %}" },
    { what: "a range of nothing known", text: "{% for a in range(0, 10, 0) %}{% endfor %}" },
    { what: "a macro that calls itself", text: "{% macro m(x) %}{{ m(x) }}{{ m(x) }}{% endmacro %}{{ m(1) }}" },
    {
      what: "a text that doubles",
      text: "{% set n = namespace(t='ab') %}{% for a in range(99999) %}{% set n.t = n.t ~ n.t %}{% endfor %}",
    },
    {
      what: "a list that doubles",
      text: "{% set n = namespace(t=[1]) %}{% for a in range(99999) %}{% set n.t = n.t + n.t %}{% endfor %}",
    },
    { what: "what is not defined", text: "{{ nothing.of.it() }}" },
    { what: "what JavaScript has", text: "{{ messages.constructor.constructor('return process')() }}" },
  ])("$what", ({ text }) => {
    expect(jinjaTemplate(text).render(hello)).toEqual(left(/^the chat template can't render this conversation: ./u));
  });
});

test.each(["{% for message in messages %}", "{{ messages", "{% if %}{% endif %}", "{% nothing %}", "{{ '".repeat(9)])(
  "a text that is no template is refused: %s",
  (text) => {
    expect(() => jinjaTemplate(text)).toThrow(ConfigurationError);
    expect(() => jinjaTemplate(text)).toThrow(/^jinjaTemplate can't read the template: ./u);
  },
);

test.each([
  [{ eos_token: "</s>" }, /Unrecognized key: "eos_token"\. It takes bosToken, eosToken, stop and variables$/u],
  [{ stop: "</s>" }, /^jinjaTemplate can't take its options: stop: /u],
])("invalid options are refused: %j", (options, reason) => {
  // JavaScript may pass these.
  const make = (): unknown => jinjaTemplate("{{ messages }}", options as unknown as JinjaTemplateOptions);
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(reason);
});

const syntax = fc
  .array(
    fc.constantFrom(
      "{{",
      "}}",
      "{%",
      "%}",
      "{#",
      "#}",
      "'",
      '"',
      "\\",
      "raise_exception('x')",
      "messages",
      "{% raw %}",
      "<|im_end|>",
      "</s>",
      " ",
      "\n",
      "-",
      "$&",
      "__proto__",
      "\u0000",
      "\ud800",
    ),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((pieces) => pieces.join(""));

test("the text of messages is never evaluated", () => {
  fc.assert(
    fc.property(syntax, syntax, (instructions, text) => {
      const [system, said] = [instructions.toWellFormed(), text.toWellFormed()];
      expect(chatMl.render(conversation(instructions, text), { addGenerationPrompt: false })).toEqual(
        right(`<s><|im_start|>system\n${system}<|im_end|>\n<|im_start|>user\n${said}<|im_end|>\n`),
      );
    }),
    { numRuns: runs(1000) },
  );
});

test("the templates of models show texts unchanged, except for the white space around them", () => {
  const templates = modelTemplates.map((text) => jinjaTemplate(text));
  fc.assert(
    fc.property(fc.constantFrom(...templates), syntax, (template, text) => {
      const said = text.toWellFormed();
      const plain = template.render(conversation(null, "x"));
      const rendered = template.render(conversation(null, text));
      expect(Either.isRight(rendered)).toBe(Either.isRight(plain));
      expect(Either.isRight(rendered) ? rendered.right : said).toContain(said.trim());
    }),
    { numRuns: runs(600) },
  );
});

test.each([
  "{{ ns.l }}",
  "{{ ns.l|tojson }}",
  "{{ ns.l|string }}",
  "{{ ns.l|join }}",
  "{{ 'a' in ns.l }}",
  "{{ ns|tojson }}",
])("lists that double are not gone through by %s", (use) => {
  const doubling = "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}";
  expect(jinjaTemplate(doubling + use).render(hello)).toEqual(left(/entries|steps/));
});

test("rendering fails once a text has more than 4,194,304 characters", () => {
  const doubled = (times: number) =>
    jinjaTemplate(
      `{% set ns = namespace(a='x') %}{% for i in range(${times}) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}{{ ns.a }}`,
    ).render(hello);
  const most = doubled(22);
  expect(Either.isRight(most) ? most.right.length : most.left).toBe(4_194_304);
  expect(doubled(23)).toEqual(left(/more than 4194304 characters/));
});

test("a text of a million characters is not gone through again and again", () => {
  const text = "{% set ns = namespace(a='x') %}{% for i in range(20) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}";
  const again = "{% for i in range(100) %}{% set b = ns.a|upper %}{% endfor %}";
  expect(jinjaTemplate(text + again).render(hello)).toEqual(left(/steps/));
});

test.each(["\n", " ", "\t", "\r\n", " \n", "\u2003"])(
  "a template is refused whose lexer would take the square of a long run of %j, wherever it is",
  (blank) => {
    const run = (length: number): string => blank.repeat(length / blank.length);
    for (const around of [
      ["a", "b"],
      ["{% if", "true %}{% endif %}"],
      ["{{ '", "' }}"],
    ]) {
      expect(() => jinjaTemplate(around.join(run(256)))).not.toThrow();
      expect(() => jinjaTemplate(around.join(run(80_000)))).toThrow("more than 256 characters of white space in a row");
    }
  },
);

test("a conversation of a thousand messages is far from the bounds", () => {
  const looking = jinjaTemplate(
    "{% for m in messages %}{% if messages[loop.index0 - 1].role != m.role and messages|length > 1 %}{{ m.content }}{% endif %}{% endfor %}",
  );
  expect(looking.render(conversation("", ...Array.from({ length: 1_000 }, (_, index) => `${index}.`)))).toMatchObject({
    _tag: "Right",
  });
});
