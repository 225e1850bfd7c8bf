// The scenes of the golden screens. Each is played at every size, and the test captures the screen at its moments.
import { type Host, type LlmHandler, type Tool, tool } from "@colloquy/host";
import { tokenWindow } from "@colloquy/machine/policies";
import { converse, type Size } from "../../../src/terminal/index.ts";
import { fails, reply, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import type { Cells } from "../kit/cells.ts";
import { FakeTerminal } from "../kit/fake-terminal.ts";
import { AtTerminal, type AtTerminalOptions } from "../kit/at-terminal.ts";
import { hostOf, story } from "../views/story.ts";

/** The events of a scene, and its moments. */
export interface Scene {
  readonly name: string;
  readonly play: (size: Size, look: Look) => Promise<void>;
}

/** Captures the terminal at a moment. */
export type Look = (cells: Cells, moment: string) => Promise<void>;

type Play<Given> = (given: Given, look: (moment: string) => Promise<void>) => Promise<void>;
type Options = Omit<AtTerminalOptions, "size">;

const scene = (name: string, play: Play<(options: Options) => Promise<AtTerminal>>): Scene => ({
  name,
  play: async (size, look) => {
    const opened: AtTerminal[] = [];
    const open = async (options: Options): Promise<AtTerminal> => {
      const at = new AtTerminal({ size, ...options });
      opened.push(at);
      await at.until(/thread (?:here|story)/);
      return at;
    };
    try {
      await play(open, async (moment) => {
        for (const at of opened) await look(at.terminal.cells, moment);
      });
    } finally {
      for (const at of opened) await at.end();
    }
  },
});

const declared = (name: string, run: (input: unknown) => unknown, approval?: "always"): Tool =>
  tool({
    name,
    description: "Does.",
    input: { jsonSchema: { type: "object" } },
    run: async (input) => {
      const output = await run(input);
      return typeof output === "string" ? output : JSON.stringify(output);
    },
    ...(approval === undefined ? {} : { approval }),
  });

const withTools = (llm: LlmHandler, ...tools: readonly Tool[]): Options => ({
  llm,
  tools,
  machine: { tools: tools.map(({ declaration }) => declaration) },
});

const usage = { inputTokens: 1_200, outputTokens: 134 };

const forecast = `It **rains** in Oslo until noon. See [the map](https://example.org/oslo).

| day       |  high | sky            |
| --------- | ----: | -------------- |
| today     |  12 ° | rain, then sun |
| tomorrow  |  15 ° | 晴れ ☀️         |

What to take:

1. an umbrella, which you will want to have with you before noon at the latest
2. boots

\`\`\`ts
const wet = (mm: number): boolean => mm > 0.2; // by the hour
\`\`\`

`;

const answer = scene("answer", async (open, look) => {
  const at = await open(
    withTools(
      scriptedModel([
        streams([
          { reasoning: "The person wants the weather of Oslo, so I look it up before I say anything of it." },
          "I look it up.",
          { toolCall: { name: "get_weather", arguments: { city: "Oslo", days: 2, units: "metric" } } },
        ]),
        streams(
          [{ text: forecast }, { text: "Shall I look", delayMs: 100 }, { text: " at Bergen too?", delayMs: 100 }],
          {
            usage,
          },
        ),
      ]),
      declared("get_weather", () => ({ today: { high: 12, sky: "rain" }, tomorrow: { high: 15, sky: "clear" } })),
    ),
  );
  await at.enter("What's the weather in Oslo, today and tomorrow?");
  await at.until(/boots/);
  await at.clock.advance(100);
  await at.until(/Shall I look/);
  await look("it streams");
  await at.clock.advance(100);
  await at.answered(1);
  await look("it is there");
});

const script = `#!/bin/sh
# Removes what is older than a week, and says so.
find /var/cache -mtime +7 -print -delete | while read -r file; do echo "removed $file"; done
exit 0`;

const approval = scene("approval", async (open, look) => {
  const at = await open(
    withTools(
      scriptedModel([
        toolCalls(
          [
            { name: "write_file", arguments: { path: "clean.sh", content: script, mode: 493 } },
            { name: "write_file", arguments: { path: "a", content: "b" } },
          ],
          { content: "I write both." },
        ),
        reply("One of them is there."),
      ]),
      declared("write_file", () => "written", "always"),
    ),
  );
  await at.enter("Clean up.");
  await at.until(/run write_file\?/);
  await look("it is asked");
  at.type("y");
  await at.until(/approved.*run write_file\?/);
  at.type("n");
  await at.until(/why not\?/);
  at.type("not here");
  await at.until(/not here/);
  await look("a reason is typed");
  at.type("\r");
  await at.answered(1);
  await look("it went on");
});

const steering = scene("steering", async (open, look) => {
  const seen = Promise.withResolvers<string>();
  const model = scriptedModel([
    toolCalls([{ name: "look", arguments: { at: "the sky" } }], { usage }),
    reply("Blue, and never red.", { usage }),
    reply("Green.", { usage }),
  ]);
  const at = await open(
    withTools(
      model,
      declared("look", () => seen.promise),
    ),
  );
  await at.enter("What colour is the sky?");
  await at.until(/○ look/);
  await at.enter("Say what it is never, too.");
  await at.until(/sent/);
  at.type("And the grass?");
  await at.until(/grass/);
  at.type("\t");
  await at.until(/queued/);
  await look("both wait");
  seen.resolve("blue");
  await at.answered(2);
  await look("both are answered");
});

const view = (name: string, host: () => Promise<Host>, command: string, title: RegExp, play: Play<AtTerminal>): Scene =>
  scene(name, async (open, look) => {
    const at = await open({ llm: scriptedModel([]), host: await host(), threadId: "story" });
    await at.enter(command);
    await at.until(title);
    await play(at, look);
  });

const told = async (): Promise<Host> => (await story()).host;

const tree = view("tree", told, "/tree", /^Tree/, async (at, look) => {
  await look("it is open");
  at.type("k".repeat(3));
  await at.until(/> │ ○ 3/);
  at.type("\r");
  await at.until(/continues after turn 3/);
  await look("it went on at another turn");
});

const pruned = async (): Promise<Host> => {
  const answers = ["It rains until noon. ", "The storm comes from the west. ", "By train it takes seven hours. "];
  const host = hostOf(
    answers.map((text) => reply(text.repeat(6), { usage })),
    {
      budget: { tokens: 150, reserve: 20 },
      policy: tokenWindow(),
    },
  );
  const thread = host.thread("story");
  for (const question of ["What is the weather in Oslo?", "And in Bergen?", "How do I get there?"])
    await thread.ask(question);
  return host;
};

const explain = view("explain", pruned, "/explain", /^The next prompt/, (_, look) => look("it is open"));

const search = view("search", told, "/search librarian", /^Search/, (_, look) => look("it is open"));

const message = "This model's maximum context length is 8192 tokens.\u001B[31m";

const error = scene("error", async (open, look) => {
  const at = await open({ llm: scriptedModel([fails({ kind: "bad_request", message }, { partial: "Once upon a " })]) });
  await at.enter("A story.");
  await at.answered(1);
  await look("a turn failed");
  await at.enter("/undo seven");
  await at.until(/error:.*error:/);
  await look("a command was refused");
});

/** The conversation in plain lines, on a terminal that can't draw. */
const dumb: Scene = {
  name: "dumb",
  play: async (size, look) => {
    const terminal = new FakeTerminal(size);
    const host = hostOf([
      toolCalls([{ name: "weather", arguments: { place: "Oslo" } }], { usage }),
      reply("It rains in Oslo until noon, and then the sun comes out.", { usage }),
      fails({ kind: "bad_request", message }),
    ]);
    const { input, output } = terminal;
    const ended = converse({ host, threadId: "here", input, output, isTerminal: true });
    const enter = async (line: string, until: RegExp): Promise<void> => {
      terminal.type(`${line}\r`);
      await terminal.until(() => until.test(terminal.cells.lines().join(" ").replaceAll(/\s+/g, " ")));
    };
    await enter("What is the weather in Oslo?", /comes out.*tokens: \S+ in, \d+ out\) >/);
    await enter("/undo seven", /whole number.*>/);
    await enter("And in Bergen?", /bad_request.*>/);
    terminal.type("\u0004");
    await ended;
    await look(terminal.cells, "it ended");
  },
};

export const scenes: readonly Scene[] = [answer, approval, steering, tree, explain, search, error, dumb];
