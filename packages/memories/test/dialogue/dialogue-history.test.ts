import { createHost, memoryStore } from "@colloquy/runtime-node";
import { ConfigurationError } from "@colloquy/machine";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { promptFormat } from "@colloquy/interchange/templates";
import { expect, it } from "vitest";
import { DialogueHistory, type DialogueHistoryOptions, type Utterance } from "../../src/dialogue/index.ts";

/** The format in retico. */
const format = promptFormat({
  user: { role: "Child", role_sep: ":", pre: "", suf: "\n\n" },
  agent: { role: "Teacher", role_sep: ":", pre: "", suf: "\n\n" },
  system_prompt: { pre: "<<SYS>>", suf: "<</SYS>>\n\n" },
  prompt: { pre: "[INST] ", suf: " [/INST]" },
  interruption: { suf: "..." },
});

const dialogue = (options: Partial<DialogueHistoryOptions> = {}) => {
  const host = createHost({ llm: scriptedModel([reply("Fine.")]), store: memoryStore() });
  const thread = host.thread("dialogue");
  return { host, thread, history: new DialogueHistory(thread, { format, ...options }) };
};

const said = async (history: DialogueHistory, ...utterances: readonly Utterance[]): Promise<void> => {
  for (const utterance of utterances) await history.appendUtterance(utterance);
};

const child = (text: string): Utterance => ({ speaker: "user", text });
const teacher = (text: string): Utterance => ({ speaker: "agent", text });
const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== "");
const five = [0, 1, 2, 3, 4].map((index) => (index % 2 === 0 ? child : teacher)(`w${index} a b`));

it("renders a dialogue without turns (case 77)", async () => {
  const { history } = dialogue({ initialSystemPrompt: "Be gentle." });
  expect(await history.getPrompt()).toBe("[INST] <<SYS>>Be gentle.<</SYS>>\n\n [/INST]\n\nTeacher : ");
});

it("renders a dialogue with turns (case 78)", async () => {
  const { history } = dialogue({ initialSystemPrompt: "Be gentle." });
  await said(history, child("Hello !"), teacher("Hi! How are you today ?"), child("Fine."));
  expect(await history.getPrompt()).toBe(
    "[INST] <<SYS>>Be gentle.<</SYS>>\n\nChild : Hello !\n\nTeacher : Hi! How are you today ?\n\nChild : Fine.\n\n [/INST]\n\nTeacher : ",
  );
});

it("keeps exactly the part that fits, and grows again (case 79)", async () => {
  const { history, thread } = dialogue({ contextSize: 20 });
  await said(history, ...five);
  const { prompt, tokens, start } = await history.prepareDialogueHistory(words);
  expect([tokens, start]).toEqual([20, 3]);
  expect(prompt).toBe(await history.getPrompt(3));
  expect(words(prompt).filter((word) => word.startsWith("w"))).toEqual(["w2", "w3", "w4"]);
  const wider = new DialogueHistory(thread, { format, contextSize: 30, reserve: 5 });
  expect(await wider.prepareDialogueHistory(async (text) => words(text).length)).toMatchObject({
    tokens: 25,
    start: 2,
  });
});

it.each([5, 9, 10, 14, 15, 19, 20, 24, 25, 29, 30, 40])("has the longest window of %i tokens", async (room) => {
  const { history } = dialogue({ contextSize: room });
  await said(history, ...five);
  const sizes = await Promise.all([1, 2, 3, 4, 5, 6].map(async (from) => words(await history.getPrompt(from)).length));
  const { start, tokens } = await history.prepareDialogueHistory(words);
  expect(start).toBe(sizes.findIndex((size) => size <= room) + 1);
  expect(tokens).toBe(sizes[start - 1]);
});

it("takes a range, and another system prompt for one call (case 80)", async () => {
  const { history } = dialogue({ initialSystemPrompt: "Be gentle." });
  await said(history, ...five);
  expect(words(await history.getPrompt(2, 3)).filter((word) => word.startsWith("w"))).toEqual(["w1"]);
  expect(await history.getPrompt(5, 5, "OVR")).toBe("[INST] <<SYS>>OVR<</SYS>>\n\n [/INST]\n\nTeacher : ");
  expect((await history.getDialogueHistory())[0]?.text).toBe("Be gentle.");
  for (const [start, end] of [
    [0, undefined],
    [3, 2],
    [1.5, undefined],
    [1, Number.NaN],
  ] as const)
    await expect(history.getPrompt(start, end)).rejects.toThrow(RangeError);
});

it("changes and resets the system prompt (case 81)", async () => {
  const { history } = dialogue({ initialSystemPrompt: "A" });
  expect(await history.changeSystemPrompt("B")).toBe("A");
  expect(await history.getPrompt()).toContain("<<SYS>>B<</SYS>>");
  await history.resetSystemPrompt();
  expect(await history.changeSystemPrompt("C")).toBe("A");
});

it("has the stop patterns of the user first (case 82), and formats by its format", async () => {
  const { history } = dialogue();
  expect(await history.getStopPatterns()).toEqual([
    ["Child :", "Child:"],
    ["Teacher :", "Teacher:"],
  ]);
  expect(await history.formatRole("user")).toBe("Child : ");
  expect(await history.formatRole("system_prompt")).toBe("");
  expect(await history.format("agent", "Hi.")).toBe("Teacher : Hi.\n\n");
  expect(await history.formatSentence(child("Hi."))).toBe("Child : Hi.\n\n");
});

it("throws an error if the system prompt alone is too long (case 83)", async () => {
  const { history } = dialogue({ contextSize: 20, initialSystemPrompt: "be gentle ".repeat(50) });
  await expect(history.prepareDialogueHistory(words)).rejects.toThrow(
    "the prompt has 105 tokens without any utterance, and there is room for 20",
  );
});

it("numbers utterances itself, and refuses an invalid one before anything is stored", async () => {
  const { history } = dialogue();
  expect(await history.appendUtterance(child("Hello"))).toBe(1);
  const given = teacher("Hi.");
  expect(await history.appendUtterance(given)).toBe(2);
  expect(given).toEqual({ speaker: "agent", text: "Hi." });
  // A caller in JavaScript may pass this.
  const unknown = { speaker: "nobody", text: "Hi." } as unknown as Utterance;
  await expect(history.appendUtterance(unknown)).rejects.toThrow(ConfigurationError);
  await expect(
    history.interruptionAlignmentNewAgentSentence(child("Hi."), { clause: 0, character: 0 }),
  ).rejects.toThrow("only an agent's");
  expect(await history.getDialogueHistory()).toEqual([
    { turnId: -1, speaker: "system_prompt", text: "" },
    { turnId: 1, speaker: "user", text: "Hello" },
    { turnId: 2, speaker: "agent", text: "Hi." },
  ]);
});

it("keeps the spoken part of an interrupted sentence", async () => {
  const { history } = dialogue();
  await said(history, child("Hello"));
  const aligned = await history.interruptionAlignmentNewAgentSentence(teacher("Hello there, how are you? I am fine."), {
    clause: 1,
    character: 3,
  });
  expect(aligned).toEqual({ turnId: 2, speaker: "agent", text: "Hello there, how", interrupted: true });
  expect((await history.getDialogueHistory())[2]).toEqual(aligned);
  expect(await history.interruptionAlignmentNewAgentSentence(teacher(""), { clause: 0, character: 3 })).toMatchObject({
    text: "",
  });
});

it("continues a thread with asks, and one that another process began", async () => {
  const { history, thread } = dialogue({ initialSystemPrompt: "A" });
  await said(history, child("Hello"));
  await thread.ask("How are you?");
  const again = new DialogueHistory(thread, { format, initialSystemPrompt: "B" });
  expect(await again.getDialogueHistory()).toEqual([
    { turnId: -1, speaker: "system_prompt", text: "A" },
    { turnId: 1, speaker: "user", text: "Hello" },
    { turnId: 2, speaker: "user", text: "How are you?" },
    { turnId: 3, speaker: "agent", text: "Fine." },
  ]);
});

it.each([{ contextSize: -1 }, { contextSize: 1.5 }, { contextSize: 10, reserve: 11 }])("refuses %j", (sizes) => {
  expect(() => dialogue(sizes)).toThrow(ConfigurationError);
});

it.each([
  [{ format, contextsize: 60 }, 'DialogueHistory has no option "contextsize"'],
  [{}, 'DialogueHistory needs the option "format"'],
])("refuses invalid options: %j", async (options, reason) => {
  const host = createHost({ llm: scriptedModel([]), store: memoryStore() });
  // A caller in JavaScript may pass these.
  const given = options as unknown as DialogueHistoryOptions;
  expect(() => new DialogueHistory(host.thread("a"), given)).toThrow(ConfigurationError);
  expect(() => new DialogueHistory(host.thread("a"), given)).toThrow(reason);
  await host.close();
});
