import { fails, never, reply, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
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
