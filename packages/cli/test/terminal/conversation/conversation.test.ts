import { fails, never, reply, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { messagesOf } from "@colloquy/machine";
import { expect, test } from "vitest";
import type { ShellPort } from "../../../src/terminal/index.ts";
import { onScreen } from "./screen.ts";

test("a question is asked, and its answer is shown as it comes, with its figures behind it", async () => {
  const model = scriptedModel([
    streams(["One ", { text: "two\n\nthree", delayMs: 1500 }], { usage: { totalTokens: 2100 } }),
  ]);
  const { ask, until, clock, screen, finished } = onScreen(model);
  await ask("Count.", "One");
  expect(screen()).toBe("  new thread here\n\n> Count.\nOne \n> \nthread here · answers, Esc stops");
  await clock.advance(1500);
  await until("Agent");
  expect(finished()).toBe("  new thread here\n\n> Count.\nOne two\n\nthree\nAgent (1.5 s, 1 step, 2.1k tokens)");
  model.assertComplete();
});

test("under the seed's keys the figures have the seed's form", async () => {
  const model = scriptedModel([reply("Yes.", { usage: { inputTokens: 1900, outputTokens: 200, totalTokens: 2100 } })]);
  const { ask, finished } = onScreen(model, { agentLabel: "WeatherAgent" });
  await ask("Well?", "Agent (");
  expect(finished()).toMatch(/Yes\.\nAgent \(\d+ms, 1 iter, 2\.1k tok\)$/);
});

test("Esc stops an answer, and keeps its shown text", async () => {
  const { ask, press, until, finished } = onScreen(scriptedModel([never({ pieces: ["Once upon"] }), reply("Yes.")]));
  await ask("A story.", "Once upon");
  press("escape");
  await until("Agent");
  expect(finished()).toMatch(/\n> A story.\nOnce upon\n  stopped\nAgent \(/);
  await ask("Shorter?", "Yes.\nAgent");
});

test("an attempt that fails is void, which is said where it was shown", async () => {
  const model = scriptedModel([fails({ kind: "overloaded" }, { partial: "One.\n\nT" }), reply("One.\n\nTwo.")]);
  const { ask, until, clock, finished } = onScreen(model);
  await ask("Count.", "trying again");
  await clock.advance(1000);
  await until("Agent");
  expect(finished()).toMatch(
    /> Count\.\nOne\.\n {2}overloaded: trying again at [\d:]{8} \(attempt 2\); what is shown above of this step is void\nOne\.\n\nTwo\.\nAgent \(/,
  );
});

test("a tool call is shown with its arguments and its result", async () => {
  const model = scriptedModel([
    toolCalls([{ name: "look", arguments: { at: "sky" } }], { content: "Let me see." }),
    reply("Blue."),
  ]);
  const { ask, finished } = onScreen(model);
  await ask("What colour?", "Agent");
  expect(finished()).toContain(
    'Let me see.\n● look {"at":"sky"}\n  └ refused: There is no tool "look". The tools are: none.\nBlue.\nAgent (',
  );
});

test("an error is shown, and the conversation continues", async () => {
  const model = scriptedModel([fails({ kind: "auth", message: "wrong key" }), reply("Yes.")]);
  const { ask, press, conversation } = onScreen(model);
  await ask("One?", "error: the model call failed (auth): wrong key");
  await ask("Two?", "Yes.\nAgent");
  press("ctrl+d");
  await conversation.ended;
});

test("a line behind ! runs in the shell after a second Enter, and the next question takes its output along", async () => {
  const ran: string[] = [];
  const running = Promise.withResolvers<{ output: string; ending: string }>();
  const shell: ShellPort = {
    folder: "/home/ada",
    run: async (command, signal) => {
      ran.push(command);
      if (command !== "sleep") return { output: "two sheep\n", ending: "exit code 0" };
      signal.addEventListener("abort", () => running.resolve({ output: "", ending: "stopped" }));
      return running.promise;
    },
  };
  const model = scriptedModel([reply("Two."), reply("None.")]);
  const { ask, press, until, input, finished, host } = onScreen(model, { shell });
  await ask("!count sheep", "Enter again runs it in /home/ada: count sheep");
  expect(ran).toEqual([]);
  expect(input()).toBe("> !count sheep");
  press("enter");
  await until("two sheep\n  (exit code 0; the next question takes this along)");
  await ask("How many?", "Two.\nAgent");
  await ask("!sleep", "Enter again runs it in /home/ada: sleep");
  press("enter");
  await until("!sleep …");
  press("ctrl+c");
  await until("(stopped; the next question takes this along)");
  await ask("And now?", "None.\nAgent");
  expect(ran).toEqual(["count sheep", "sleep"]);
  expect(finished()).not.toContain("Attached");
  const state = await host.thread("here").state();
  const said = state === null ? [] : messagesOf(state).filter(({ role }) => role === "user");
  expect(said.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")))).toEqual([
    ["How many?", "# Attached: the output of `count sheep` (exit code 0)\n\ntwo sheep\n"],
    ["And now?", "# Attached: the output of `sleep` (stopped)\n\n"],
  ]);
});

test("the output of a command stays for the next question where the one that took it along was not asked", async () => {
  const shell: ShellPort = {
    folder: "/home/ada",
    run: async () => ({ output: "two sheep\n", ending: "exit code 0" }),
  };
  const model = scriptedModel([never({ pieces: ["One "] }), reply("Two.")]);
  const { ask, press, until, input, host } = onScreen(model, { shell });
  await ask("Hello.", "One");
  await ask("!count sheep", "Enter again runs it");
  press("enter");
  await until("the next question takes this along");
  await ask("How many?", "sent:");
  press("escape");
  await until("it is back in the input");
  expect(input()).toBe("> How many?");
  press("enter");
  await until("Two.\nAgent");
  const state = await host.thread("here").state();
  const asked = state === null ? undefined : messagesOf(state).findLast(({ role }) => role === "user");
  expect(asked?.parts).toMatchObject([{ text: "How many?" }, { text: expect.stringContaining("two sheep") }]);
});

test("a command that was asked for earlier is asked for again; quitting stops the one that runs", async () => {
  const ran: string[] = [];
  const stopped = Promise.withResolvers<void>();
  const shell: ShellPort = {
    folder: "/home/ada",
    run: (command, signal) => {
      ran.push(command);
      return new Promise(() => signal.addEventListener("abort", () => stopped.resolve()));
    },
  };
  const { ask, press, type, status } = onScreen(scriptedModel([reply("Yes.")]), { shell });
  await ask("!sleep", "Enter again runs it in /home/ada: sleep");
  expect(status()).toBe("Enter again runs it");
  press("ctrl+u");
  await ask("Well?", "Yes.\nAgent");
  type("!sleep");
  press("enter");
  expect(ran).toEqual([]);
  press("enter");
  expect(ran).toEqual(["sleep"]);
  press("ctrl+d");
  await stopped.promise;
});

test("each of several commands that run at once is stopped", async () => {
  const running = new Map<string, () => void>();
  const stopped: string[] = [];
  const shell: ShellPort = {
    folder: "/home/ada",
    run: (command, signal) => {
      signal.addEventListener("abort", () => stopped.push(command));
      return new Promise((resolve) => running.set(command, () => resolve({ output: "", ending: "exit code 0" })));
    },
  };
  const { ask, press, until } = onScreen(scriptedModel([]), { shell });
  for (const command of ["first", "second", "third"]) {
    await ask(`!${command}`, `Enter again runs it in /home/ada: ${command}`);
    press("enter");
  }
  running.get("second")?.();
  await until("(exit code 0; the next question takes this along)");
  press("ctrl+c");
  expect(stopped).toEqual(["first", "third"]);
});

test("without a shell a text behind ! is a question", async () => {
  const { ask } = onScreen(scriptedModel([reply("Ouch.", { expects: "!important" })]));
  await ask("!important", "Ouch.\nAgent");
});
