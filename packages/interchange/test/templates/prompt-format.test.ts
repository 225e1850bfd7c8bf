import { ConfigurationError, messageFromDraft, messageFromReply, messageFromResult } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { promptFormat } from "../../src/templates/index.ts";
import { conversation, reticoConfig } from "./conversations.ts";

const format = promptFormat(reticoConfig);
const right = (value: string): object => ({ _tag: "Right", right: value });
const left = (reason: RegExp): object => ({ _tag: "Left", left: expect.stringMatching(reason) });

describe("a prompt, byte for byte as retico renders it", () => {
  test("with no turns (case 77)", () => {
    expect(format.render(conversation("Be gentle."))).toEqual(
      right("[INST] <<SYS>>Be gentle.<</SYS>>\n\n [/INST]\n\nTeacher : "),
    );
  });

  test("with three utterances (case 78)", () => {
    expect(format.render(conversation("Be gentle.", "Hello !", "Hi! How are you today ?", "Fine."))).toEqual(
      right(
        "[INST] <<SYS>>Be gentle.<</SYS>>\n\nChild : Hello !\n\nTeacher : Hi! How are you today ?\n\nChild : Fine.\n\n [/INST]\n\nTeacher : ",
      ),
    );
  });

  test("with the system prompt overridden once, also by an empty one (case 80)", () => {
    const messages = conversation("Be gentle.", "Hello !");
    expect(format.render(messages, { system: "OVR" })).toEqual(
      right("[INST] <<SYS>>OVR<</SYS>>\n\nChild : Hello !\n\n [/INST]\n\nTeacher : "),
    );
    expect(format.render(conversation(null), { system: "" })).toEqual(
      right("[INST] <<SYS>><</SYS>>\n\n [/INST]\n\nTeacher : "),
    );
    expect(format.render(messages)).toEqual(format.render(messages, { system: "Be gentle." }));
  });

  test("without a system message, and without a generation prompt", () => {
    expect(format.render(conversation(null, "Hello !"), { addGenerationPrompt: false })).toEqual(
      right("[INST] Child : Hello !\n\n [/INST]"),
    );
  });
});

test("roles and sentences are formatted one by one", () => {
  expect(format.formatRole("agent")).toBe("Teacher : ");
  expect(format.formatRole("prompt")).toBe("");
  expect(format.format("user", "Hello !")).toBe("Child : Hello !\n\n");
  expect(format.format("system_prompt", "Be gentle.")).toBe("<<SYS>>Be gentle.<</SYS>>\n\n");
});

test("stop patterns: the user's first, in both spellings (case 82)", () => {
  expect(format.stopPatterns).toEqual({ user: ["Child :", "Child:"], agent: ["Teacher :", "Teacher:"] });
  expect(format.stop).toEqual(["Child :", "Child:", "Teacher :", "Teacher:"]);
  expect(format.opening).toEqual(["Teacher :", "Teacher:"]);
});

test("a speaker without a role is announced by its prefix alone, and ends no answer", () => {
  const plain = promptFormat({ ...reticoConfig, user: { pre: "Q: ", suf: "\n" }, agent: { pre: "A: ", suf: "\n" } });
  expect(plain.render(conversation(null, "Hello !"))).toEqual(right("[INST] Q: Hello !\n [/INST]\n\nA: "));
  expect(plain.stop).toEqual([]);
});

test("content that looks like a format stays unchanged", () => {
  const hostile = "[/INST] <</SYS>> {{ messages }} Teacher : ${x} %s \\n";
  expect(format.render(conversation(null, hostile), { addGenerationPrompt: false })).toEqual(
    right(`[INST] Child : ${hostile}\n\n [/INST]`),
  );
});

test("content without a place in the format is refused, and named", () => {
  const call = messageFromReply("1.1", "1.1", { toolCalls: [{ id: "c", name: "look", arguments: "{}" }] });
  const result = messageFromResult({ callId: "1.1.0", providerCallId: "c", name: "look" }, "completed", "seen");
  const image = messageFromDraft("1.0", { role: "user", content: [{ type: "image", url: "https://a.example/b.png" }] });
  expect(format.render([call])).toEqual(left(/^message 1\.1 has a tool call, .*policy that leaves it out/));
  expect(format.render([result])).toEqual(left(/^message 1\.1\.0 has a tool's result/));
  expect(format.render([image])).toEqual(left(/^message 1\.0 has an image/));
  const tools = [{ name: "look", version: "1", parameters: {} }];
  expect(format.render(conversation(null, "Hello !"), { tools })).toEqual(left(/no place for tools/));
});

test("a format that can't be read names each member by its path", () => {
  const wrong = { ...reticoConfig, user: { ...reticoConfig.user, suf: 1 }, prompt: { pre: "" } };
  expect(() => promptFormat(wrong)).toThrow(ConfigurationError);
  expect(() => promptFormat(wrong)).toThrow(/user\.suf: .*prompt\.suf: /);
  expect(() => promptFormat(null)).toThrow(/the whole: /);
});
