import { type LlmHandler, tool } from "@colloquy/host";
import { never, reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { describe, expect, test } from "vitest";
import { keymapOf } from "../../../src/terminal/input/keymap.ts";
import { type OnScreen, onScreen } from "./screen.ts";

const keySets = {
  standard: keymapOf("standard"),
  seed: keymapOf("seed"),
  "Esc quits": keymapOf("standard", { escape: "quit" }),
  "F5 stops": keymapOf("seed", { escape: "nothing", f5: "closeOrStop", "ctrl+c": "nothing" }),
  "no key stops": keymapOf("standard", { escape: "nothing", "ctrl+c": "nothing" }),
};

const gated = tool({
  name: "remove",
  description: "Removes a file.",
  input: { jsonSchema: { type: "object" } },
  approval: "always",
  run: async () => "gone",
});
const endless = tool({
  name: "watch",
  description: "Never ends.",
  input: { jsonSchema: { type: "object" } },
  run: () => new Promise<string>(() => {}),
});

interface State {
  readonly model: () => LlmHandler;
  /** Brings the conversation into the state, in which it gives the hint. */
  readonly reach: (screen: OnScreen) => Promise<void>;
  readonly hint: RegExp;
  /** Resolves when the hint came true. */
  readonly cameTrue: (screen: OnScreen) => Promise<unknown>;
}

const armed = (key: string, hint: RegExp, cameTrue: State["cameTrue"]): State => ({
  model: () => scriptedModel([]),
  reach: async ({ press, until }) => {
    await until("new thread here");
    press(key);
  },
  hint,
  cameTrue,
});

const states: Readonly<Record<string, State>> = {
  "idle, quit armed": armed("ctrl+c", /(\S+) again quits/, ({ conversation }) => conversation.ended),
  "idle, tree armed": armed("escape", /(\S+) again shows the tree/, ({ until }) => until("/tree")),
  answering: {
    model: () => scriptedModel([never({ pieces: ["It is"] })]),
    reach: (screen) => screen.ask("Go.", "It is"),
    hint: /(\S+) stops/,
    cameTrue: ({ until }) => until("stopped"),
  },
  "a tool runs": {
    model: () => scriptedModel([toolCalls([{ name: "watch", arguments: {} }])]),
    reach: (screen) => screen.ask("Go.", "watch {}"),
    hint: /(\S+) stops/,
    cameTrue: ({ until }) => until("stopped"),
  },
  "a denial was begun": {
    model: () => scriptedModel([toolCalls([{ name: "remove", arguments: {} }])]),
    reach: async (screen) => {
      await screen.ask("Go.", "⁇ remove {}");
      screen.type("n");
    },
    hint: /(\S+) goes back/,
    cameTrue: async ({ until }) => until(/\n> \n/),
  },
};

describe.each(Object.entries(keySets))("with the keys %s", (_, keymap) => {
  test.each(Object.entries(states))("the status line names a key that does what it says: %s", async (__, state) => {
    const tools = [gated, endless];
    const machine = { tools: tools.map(({ declaration }) => declaration) };
    const screen = onScreen(state.model(), { keymap, tools, machine });
    await state.reach(screen);
    const key = state.hint.exec(screen.status())?.[1];
    if (key === undefined) return;
    screen.press(key.toLowerCase().replace(/^esc$/, "escape"));
    await state.cameTrue(screen);
  });
});

test.each([
  ["standard", "Esc"],
  ["seed", "Esc"],
  ["Esc quits", "Ctrl+C"],
  ["F5 stops", "F5"],
  ["no key stops", undefined],
] as const)("with the keys %s, the status line names %s as the key that stops", async (name, key) => {
  const screen = onScreen(scriptedModel([never({ pieces: ["It is"] })]), { keymap: keySets[name] });
  await screen.ask("Go.", "It is");
  expect(/(\S+) stops/.exec(screen.status())?.[1]).toBe(key);
});

test("with the seed's keys, Esc stops an answer and keeps it, and quits when nothing is open", async () => {
  const screen = onScreen(scriptedModel([never({ pieces: ["It is"] }), reply("Yes.")]), { keymap: keymapOf("seed") });
  await screen.ask("Go.", "It is");
  screen.press("escape");
  await screen.until("stopped");
  await screen.until("thread here · 1 turn");
  expect(screen.finished()).toContain("It is");
  screen.press("escape");
  await screen.conversation.ended;
});
