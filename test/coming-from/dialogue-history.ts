import { readFileSync } from "node:fs";
import { join } from "node:path";
import { clausesOf, DialogueHistory, type DialogueHistoryOptions } from "@colloquy/memories/dialogue";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { promptFormat } from "@colloquy/interchange/templates";
import { expect } from "vitest";
import { folderOf } from "./command.ts";
import { closing, type Rows } from "./parts.ts";

/** The rows of retico's DialogueHistory. */
export const rows = (): readonly Rows[] => [making, keys, methods];

/** The file that retico ships. */
const configuration = {
  user: { role: "Child", role_sep: ":", pre: "", suf: "\n\n" },
  agent: { role: "Teacher", role_sep: ":", pre: "", suf: "\n\n" },
  system_prompt: { pre: "<<SYS>>", suf: "<</SYS>>\n\n" },
  prompt: { pre: "[INST] ", suf: " [/INST]" },
};
const format = promptFormat(configuration);

const hostOf = (observers: Parameters<typeof createHost>[0]["observers"] = []) =>
  closing(createHost({ llm: scriptedModel([reply("Fine.")]), store: memoryStore(), observers }));

/** Makes a history with these options, in which a child and a teacher speak in turn. */
const historyOf = async (options: Partial<DialogueHistoryOptions> = {}, ...texts: readonly string[]) => {
  const history = new DialogueHistory(hostOf().thread("class"), {
    format,
    initialSystemPrompt: "Be gentle.",
    ...options,
  });
  for (const [index, text] of texts.entries())
    await history.appendUtterance({ speaker: index % 2 === 0 ? "user" : "agent", text });
  return history;
};

const tokenize = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== "");

const making: Rows = {
  "DialogueHistory(…)": async () => {
    const host = hostOf();
    const history = new DialogueHistory(host.thread("class"), { format });
    await history.appendUtterance({ speaker: "user", text: "Hello !" });
    // The object keeps nothing: the utterances are in the thread.
    const other = new DialogueHistory(host.thread("class"), { format });
    expect(await other.getPrompt()).toContain("Child : Hello !\n\n");
  },
  prompt_format_config_file: () => {
    const path = join(folderOf({ "format.json": JSON.stringify(configuration) }), "format.json");
    const format = promptFormat(JSON.parse(readFileSync(path, "utf8")));
    expect(format.format("user", "Hello !")).toBe("Child : Hello !\n\n");
    expect(() => promptFormat({ ...configuration, user: { role: 7 } })).toThrow(/user/);
  },
  "terminal_logger: TerminalLogger": async () => {
    const lines: string[] = [];
    const observers = [
      { entry: ({ event }: { readonly event: { readonly type: string } }) => void lines.push(event.type) },
    ];
    const history = new DialogueHistory(hostOf(observers).thread("class"), { format });
    await history.appendUtterance({ speaker: "user", text: "Hello !" });
    expect(lines).toEqual(["thread.started", "turn.added"]);
  },
  "file_logger: FileLogger": async () => {
    const host = hostOf();
    await new DialogueHistory(host.thread("class"), { format }).appendUtterance({ speaker: "user", text: "Hello !" });
    const entries = await host.thread("class").exportJournal();
    expect(entries.map((entry) => JSON.stringify(entry)).at(-1)).toContain("Hello !");
  },
  'initial_system_prompt=""': async () => {
    const history = await historyOf({ initialSystemPrompt: "Be strict." });
    expect(await history.getPrompt()).toContain("<<SYS>>Be strict.<</SYS>>");
  },
  "context_size=2000": async () => {
    const history = await historyOf({ contextSize: 20, reserve: 5 }, ...five);
    expect((await history.prepareDialogueHistory(tokenize)).tokens).toBeLessThanOrEqual(15);
    expect(await (await historyOf({}, ...five)).prepareDialogueHistory(() => 2000)).toMatchObject({ start: 1 });
    await expect((await historyOf({})).prepareDialogueHistory(() => 2001)).rejects.toThrow(/there is room for 2000/);
  },
};

const five = ["w0 a b", "w1 a b", "w2 a b", "w3 a b", "w4 a b"];

const keys: Rows = {
  '"user"': async () => {
    const format = promptFormat({ ...configuration, user: { role: "Pupil", role_sep: ":", pre: "", suf: "\n" } });
    expect(await (await historyOf({ format }, "Hello !")).getPrompt()).toContain("Pupil : Hello !\n");
  },
  '"agent"': async () => {
    const format = promptFormat({ ...configuration, agent: { role: "Tutor", role_sep: ":", pre: "", suf: "\n" } });
    expect(await (await historyOf({ format })).getPrompt()).toMatch(/Tutor : $/);
  },
  '"system_prompt"': async () => {
    const format = promptFormat({ ...configuration, system_prompt: { pre: "<s>", suf: "</s>" } });
    expect(await (await historyOf({ format })).getPrompt()).toContain("<s>Be gentle.</s>");
  },
  '"prompt"': async () => {
    const format = promptFormat({ ...configuration, prompt: { pre: "<p>", suf: "</p>" } });
    expect(await (await historyOf({ format })).getPrompt()).toMatch(/^<p>[^]*<\/p>\n\nTeacher : $/);
  },
  '"role"': () => {
    const format = promptFormat({ ...configuration, user: { ...configuration.user, role: "Pupil" } });
    expect(format.formatRole("user")).toBe("Pupil : ");
  },
  '"role_sep"': () => {
    const format = promptFormat({ ...configuration, user: { ...configuration.user, role_sep: "-" } });
    expect(format.formatRole("user")).toBe("Child - ");
  },
  '"pre"': () => {
    const format = promptFormat({ ...configuration, user: { ...configuration.user, pre: "<s>" } });
    expect(format.format("user", "Hello !")).toBe("<s>Child : Hello !\n\n");
  },
  '"suf"': () => {
    const format = promptFormat({ ...configuration, user: { ...configuration.user, suf: "</s>" } });
    expect(format.format("user", "Hello !")).toBe("Child : Hello !</s>");
  },
};

const methods: Rows = {
  "format_role(config_id)": async () => {
    const history = await historyOf();
    expect(await history.formatRole("agent")).toBe("Teacher : ");
    expect(await history.formatRole("system_prompt")).toBe("");
  },
  "format(config_id, text)": async () => {
    const history = await historyOf();
    expect(await history.format("system_prompt", "Be gentle.")).toBe("<<SYS>>Be gentle.<</SYS>>\n\n");
  },
  "format_sentence(utterance)": async () => {
    const history = await historyOf();
    expect(await history.formatSentence({ speaker: "user", text: "Hello !" })).toBe("Child : Hello !\n\n");
  },
  "append_utterance(utterance)": async () => {
    const history = await historyOf();
    expect(await history.appendUtterance({ speaker: "user", text: "Hello !" })).toBe(1);
    expect(await history.appendUtterance({ speaker: "agent", text: "Hi!" })).toBe(2);
  },
  "reset_system_prompt()": async () => {
    const history = await historyOf();
    await history.changeSystemPrompt("Be strict.");
    await history.resetSystemPrompt();
    expect(await history.getPrompt()).toContain("<<SYS>>Be gentle.<</SYS>>");
  },
  "change_system_prompt(system_prompt)": async () => {
    const history = await historyOf();
    expect(await history.changeSystemPrompt("Be strict.")).toBe("Be gentle.");
    expect(await history.getPrompt()).toContain("<<SYS>>Be strict.<</SYS>>");
  },
  "prepare_dialogue_history(fun_tokenize)": async () => {
    const history = await historyOf({ contextSize: 20 }, ...five);
    const { prompt, tokens } = await history.prepareDialogueHistory(tokenize);
    expect([tokens, tokenize(prompt).filter((word) => /^w\d/.test(word))]).toEqual([16, ["w3", "w4"]]);
  },
  fun_tokenize: async () => {
    const history = await historyOf({}, "Hello !");
    const tokenize = async (text: string) => text.length;
    const { prompt, tokens } = await history.prepareDialogueHistory(tokenize);
    expect(tokens).toBe(prompt.length);
  },
  "self.cpt_0": async () => {
    const history = await historyOf({ contextSize: 20 }, ...five);
    const { start } = await history.prepareDialogueHistory(tokenize);
    expect(start).toBe(4);
    // Each call searches for the start again: with a lower count there is room for all.
    expect((await history.prepareDialogueHistory(() => 1)).start).toBe(1);
  },
  "interruption_alignment_new_agent_sentence(utterance, punctuation_ids, interrupted_speaker_iu)": async () => {
    const history = await historyOf({}, "Hello !");
    const utterance = { speaker: "agent", text: "Hi! How are you today ?" } as const;
    const place = { clause: 1, character: 3 };
    expect(await history.interruptionAlignmentNewAgentSentence(utterance, place)).toEqual({
      turnId: 2,
      speaker: "agent",
      text: "Hi! How",
      interrupted: true,
    });
    expect(await history.getPrompt()).toContain("Teacher : Hi! How\n\n");
  },
  punctuation_ids: () => {
    expect(clausesOf("Pi is 3.14, roughly. Wait... what?")).toEqual(["Pi is 3.14,", " roughly.", " Wait...", " what?"]);
  },
  "interrupted_speaker_iu: IncrementalUnit": async () => {
    const history = await historyOf();
    const utterance = { speaker: "agent", text: "Café is open." } as const;
    const place = { clause: 0, character: 3 };
    expect((await history.interruptionAlignmentNewAgentSentence(utterance, place)).text).toBe("Café");
  },
  "get_dialogue_history()": async () => {
    const history = await historyOf({}, "Hello !");
    expect(await history.getDialogueHistory()).toEqual([
      { turnId: -1, speaker: "system_prompt", text: "Be gentle." },
      { turnId: 1, speaker: "user", text: "Hello !" },
    ]);
  },
  "get_prompt(start=1, end=None, system_prompt=None)": async () => {
    const history = await historyOf({}, "Hello !", "Hi!", "Fine.");
    expect(await history.getPrompt()).toBe(
      "[INST] <<SYS>>Be gentle.<</SYS>>\n\nChild : Hello !\n\nTeacher : Hi!\n\nChild : Fine.\n\n [/INST]\n\nTeacher : ",
    );
  },
  "start=1": async () => {
    const history = await historyOf({}, "Hello !", "Hi!", "Fine.");
    expect(await history.getPrompt(3)).toBe(
      "[INST] <<SYS>>Be gentle.<</SYS>>\n\nChild : Fine.\n\n [/INST]\n\nTeacher : ",
    );
    await expect(history.getPrompt(0)).rejects.toThrow(RangeError);
  },
  "end=None": async () => {
    const history = await historyOf({}, "Hello !", "Hi!", "Fine.");
    expect(await history.getPrompt(1, 2)).toBe(
      "[INST] <<SYS>>Be gentle.<</SYS>>\n\nChild : Hello !\n\n [/INST]\n\nTeacher : ",
    );
  },
  "system_prompt=None": async () => {
    const history = await historyOf();
    expect(await history.getPrompt(1, undefined, "Be strict.")).toContain("<<SYS>>Be strict.<</SYS>>");
    expect(await history.getPrompt()).toContain("<<SYS>>Be gentle.<</SYS>>");
  },
  "get_stop_patterns()": async () => {
    const history = await historyOf();
    const [user, agent] = await history.getStopPatterns();
    expect([user, agent]).toEqual([
      ["Child :", "Child:"],
      ["Teacher :", "Teacher:"],
    ]);
  },
};
