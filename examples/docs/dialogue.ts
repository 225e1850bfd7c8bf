// Shows an interrupted agent, and the prompt of a completion model, for docs/dialogue.md.
import { DialogueHistory, interrupt, spokenOf } from "@colloquy/memories/dialogue";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { promptFormat } from "@colloquy/interchange/templates";

const host = createHost({
  llm: scriptedModel([reply("Pi is 3.14, roughly. Shall I go on? There are more digits.")]),
  store: memoryStore(),
});
const thread = host.thread("lesson");
await thread.ask("What is pi?");

// The child speaks while "Shall I go on?" is being spoken, at its sixth character.
const { spoken, unspoken } = await interrupt(thread, { clause: 2, character: 5 });
console.log(JSON.stringify([spoken, unspoken]));
console.log(JSON.stringify(spokenOf("😀 hi.", { clause: 0, character: 0 })));

const format = promptFormat({
  user: { role: "Child", role_sep: ":", pre: "", suf: "\n" },
  agent: { role: "Teacher", role_sep: ":", pre: "", suf: "\n" },
  system_prompt: { pre: "", suf: "\n\n" },
  prompt: { pre: "", suf: "" },
});
const tokenize = (text: string) => text.split(/\s+/);

const history = new DialogueHistory(host.thread("class"), {
  format,
  initialSystemPrompt: "Be gentle.",
  contextSize: 60,
});
await history.appendUtterance({ speaker: "user", text: "Hello !" });
await history.interruptionAlignmentNewAgentSentence(
  { speaker: "agent", text: "Hi! How are you today ?" },
  { clause: 1, character: 3 },
);
const { prompt, tokens } = await history.prepareDialogueHistory(tokenize);
console.log(prompt);
console.log(`\n${tokens} tokens; it ends at ${JSON.stringify((await history.getStopPatterns())[0])}`);
await host.close();
