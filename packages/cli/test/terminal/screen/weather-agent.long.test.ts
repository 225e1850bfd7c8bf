import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { TerminalProcess } from "../kit/terminal-process.ts";

const agent = fileURLToPath(new URL("../../../../../examples/weather/main.ts", import.meta.url));

const started = (term: string): TerminalProcess => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-weather-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const command = [process.execPath, agent, "--store", join(folder, "weather.db"), "--new", "--pace", "1"];
  const env = { TERM: term, OPENAI_API_KEY: "", OPENAI_BASE_URL: "", CI: "true" };
  const terminal = new TerminalProcess(command, { env });
  onTestFinished(() => terminal.kill());
  return terminal;
};

test("the weather agent is asked, its tree looked at, and left, at a terminal", async () => {
  const terminal = started("xterm-256color");
  await terminal.until(/^> /m);
  terminal.type("What's the weather in Oslo?");
  await terminal.until("> What's the weather in Oslo?");
  terminal.type("\r");
  await terminal.until(
    /get_weather \{"city":"Oslo"[^]*Oslo today[^]*Agent \([\d.]+ m?s, 2 steps, [\d.k]+ tokens: [\d.k]+ in, \d+ out\)[^]*thread weather · 1 turn/,
  );
  terminal.type("/tree");
  await terminal.until("shows the turns and their branches");
  terminal.type("\r");
  await terminal.until(/^Tree of weather[^]*> ● 1 What's the weather in Oslo\?/);
  terminal.type("q");
  await terminal.until(/Oslo today[^]*^> $/m);
  terminal.type("/theme light");
  await terminal.until("> /theme light");
  terminal.type("\r");
  await terminal.until("the theme is light");
  terminal.type("\u0004");
  expect(await terminal.exited).toMatchObject({ exitCode: 0 });
  expect(terminal.cells.raw).toContain("the same command with --thread weather continues this conversation");
  for (const clearing of ["\u001B[2J", "\u001B[3J"]) expect(terminal.cells.raw).not.toContain(clearing);
}, 120_000);

test("on a dumb terminal it is a conversation in lines, without a control sequence", async () => {
  const terminal = started("dumb");
  await terminal.until(/^> /m);
  terminal.type("What's the weather in Oslo?\r");
  await terminal.until(/Oslo today/);
  await terminal.until(/\d{3} tokens/);
  terminal.type("\u0004");
  expect(await terminal.exited).toMatchObject({ exitCode: 0 });
  expect(terminal.cells.raw).not.toContain("\u001B");
}, 120_000);
