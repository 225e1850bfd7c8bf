import { existsSync } from "node:fs";
import { join } from "node:path";
import { never, reply, ruleModel, scriptedModel } from "@colloquy/runtime-test/models";
import { expect } from "vitest";
import { atTerminal, colloquy, folderOf } from "./command.ts";
import { machineTables, usage } from "./jido-machine.ts";
import { threadTables } from "./jido-threads.ts";
import type { Rows } from "./parts.ts";

/** Answers with the number of messages in its prompt. */
const counting = ruleModel([
  { name: "count", when: () => true, answer: ({ messages }) => reply(`${messages.length} messages.`, { usage }) },
]);

/** Returns a terminal with these options, at which a question was answered. */
const answered = async (keys: string) => {
  const at = await atTerminal(`colloquy chat ${keys} --thread chat-123`, { model: counting });
  await asked(at, "Seattle?", "1 messages.");
  return at;
};

/** Types a question, and resolves when the answer has ended. */
const asked = async (
  { terminal }: Pick<Awaited<ReturnType<typeof atTerminal>>, "terminal">,
  text: string,
  answer: string,
) => {
  terminal.type(text);
  await terminal.until(`> ${text}`);
  terminal.type("\r");
  await terminal.until((screen) => screen.includes(answer) && screen.includes("Status: Ready"));
};

const commands: Rows = {
  'mix jido_ai.agent "What\'s the weather?"': async () => {
    const { output } = await colloquy(`colloquy chat "What's the weather?"`, { model: counting });
    expect(output).toBe("1 messages.\n");
  },
  "--tui": async () => {
    const at = await atTerminal("colloquy chat --keys seed", { model: counting });
    await asked(at, "Seattle?", "1 messages.");
    await asked(at, "Tomorrow?", "3 messages.");
    expect(at.server.requests).toHaveLength(2);
  },
  "--multi-turn": async () => {
    const lines = ["What about tomorrow?"];
    const { output } = await colloquy(`colloquy chat "What's the weather?" --multi-turn`, { model: counting, lines });
    expect(output).toBe("1 messages.\n3 messages.\n");
  },
  "--session ./chat.json": async () => {
    const folder = folderOf();
    await colloquy("colloquy chat Seattle? --session chat.db", { folder, model: counting });
    const { output } = await colloquy("colloquy chat Tomorrow? --session chat.db", { folder, model: counting });
    expect([output, existsSync(join(folder, "chat.db"))]).toEqual(["3 messages.\n", true]);
    const refused = await colloquy("colloquy chat Tomorrow? --session chat.json", { folder, model: counting });
    expect(refused).toMatchObject({
      exitCode: 2,
      error: expect.stringContaining("a session is a SQLite file, not JSON"),
    });
  },
  "--agent Jido.AI.Examples.WeatherAgent": async () => {
    const folder = folderOf({ "weather.yaml": "name: WeatherAgent\ninstructions: You tell the weather.\n" });
    const { output } = await colloquy("colloquy chat Seattle? --agent weather.yaml", { folder, model: counting });
    expect(output).toBe("2 messages.\n");
  },
  "iex -S mix": async () => {
    const { error } = await colloquy("colloquy chat --debug", { model: counting, lines: ["Seattle?"] });
    expect(error).toMatch(/prompt of turn 1, step 1: 1 messages/);
  },
};

const screen: Rows = {
  "Agent: WeatherAgent": async () => {
    const folder = folderOf({ "weather.yaml": "name: WeatherAgent\n" });
    const command = "colloquy chat --agent weather.yaml --keys seed";
    const { terminal } = await atTerminal(command, { folder, model: counting });
    await terminal.until("Agent: WeatherAgent");
    expect(terminal.cells.screen().join("\n")).toContain("Agent: WeatherAgent · Thread: ");
  },
  "Thread: chat-123": async () => {
    const { terminal } = await answered("--keys seed");
    await terminal.until("Thread: chat-123");
    expect(terminal.cells.screen().join("\n")).toContain(" · Thread: chat-123 · ");
  },
  "Msgs: 6": async () => {
    const at = await answered("--keys seed");
    await asked(at, "Tomorrow?", "3 messages.");
    await asked(at, "And then?", "5 messages.");
    await at.terminal.until("Msgs: 6");
    expect(at.server.requests).toHaveLength(3);
  },
  "Turns: 2": async () => {
    const { terminal } = await atTerminal("colloquy chat --thread chat-123", { model: counting });
    for (const [text, status] of [
      ["Seattle?", "thread chat-123 · 1 turn"],
      ["Tomorrow?", "2 turns"],
    ] as const) {
      terminal.type(`${text}\r`);
      await terminal.until(status);
    }
    expect(terminal.cells.screen().join("\n")).toContain("thread chat-123 · 2 turns · 4.8k tokens");
  },
  "Tokens: 2.4k (2.1k in / 0.3k out)": async () => {
    const { terminal } = await answered("--keys seed");
    await terminal.until("Tokens: 2.4k (2.1k in / 0.3k out)");
    terminal.type("/usage\r");
    await terminal.until(/1 turn, 1 step, 2\.4k tokens/);
    expect(terminal.cells.screen().join("\n")).toContain("Tokens: 2.4k (2.1k in / 0.3k out)");
  },
  "Status: Ready": async () => {
    const at = await atTerminal("colloquy chat --keys seed", { model: scriptedModel([never({ pieces: ["It is"] })]) });
    await at.terminal.until("Status: Ready");
    at.terminal.type("Seattle?\r");
    await at.terminal.until("Status: answers");
    expect(at.server.requests).toHaveLength(1);
  },
  "Agent (1523ms, 3 iter, 2.1k tok):": async () => {
    const { terminal } = await answered("--keys seed");
    await terminal.until(/Agent \(\d+ms, 1 iter, 2\.4k tok\)/);
    expect(terminal.cells.screen().join("\n")).toMatch(/Agent \(\d+ms, 1 iter, 2\.4k tok\)/);
  },
  "Enter: Submit": async () => {
    const { terminal, server } = await atTerminal("colloquy chat --keys seed", { model: counting });
    const enter = "\r";
    terminal.type(`Seattle?${enter}`);
    await terminal.until("1 messages.");
    expect(server.requests).toHaveLength(1);
  },
  "Ctrl+N: New Thread": async () => {
    const { terminal } = await answered("--keys seed");
    const ctrlN = "\x0e";
    terminal.type(ctrlN);
    await terminal.until(/new thread thread-/);
    expect(terminal.cells.screen().join("\n")).toMatch(/Thread: thread-/);
  },
  "Ctrl+U: Clear": async () => {
    const { terminal, server } = await answered("--keys seed");
    const ctrlU = "\x15";
    terminal.type("Rome?");
    await terminal.until("> Rome?");
    terminal.type(ctrlU);
    await terminal.until((shown) => !shown.includes("> Rome?"));
    expect(server.requests).toHaveLength(1);
  },
  "Ctrl+R: Reset": async () => {
    const at = await answered("--keys seed");
    const ctrlR = "\x12";
    at.terminal.type(ctrlR);
    await at.terminal.until("the thread begins again");
    at.terminal.type("Oslo?\r");
    // The prompt has no earlier message.
    await at.terminal.until((shown) => shown.split("1 messages.").length === 3);
    expect(at.server.requests).toHaveLength(2);
  },
  "Esc: Quit": async () => {
    const { terminal, ran } = await answered("--keys seed");
    const escape = "\x1b";
    terminal.type(escape);
    expect((await ran).exitCode).toBe(0);
  },
  "TermUI.Command.quit()": async () => {
    const { terminal, ran } = await answered("--keys seed");
    terminal.type("/quit\r");
    expect((await ran).exitCode).toBe(0);
  },
};

/** The rows of Jido AI. */
export const rows = (): readonly Rows[] => [...machineTables, ...threadTables, commands, screen];
