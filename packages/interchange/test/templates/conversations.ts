import { type Message, messageFromDraft } from "@colloquy/machine";

/** The format in retico. */
export const reticoConfig = {
  user: { role: "Child", role_sep: ":", pre: "", suf: "\n\n" },
  agent: { role: "Teacher", role_sep: ":", pre: "", suf: "\n\n" },
  system_prompt: { pre: "<<SYS>>", suf: "<</SYS>>\n\n" },
  prompt: { pre: "[INST] ", suf: " [/INST]" },
  interruption: { suf: "..." },
};

/** Makes a system prompt, then alternating messages of a user and an assistant. */
export const conversation = (system: string | null, ...said: readonly string[]): readonly Message[] => [
  ...(system === null ? [] : [messageFromDraft("s1", { role: "system", content: system })]),
  ...said.map((content, index) =>
    messageFromDraft(`1.${index}`, { role: index % 2 === 0 ? "user" : "assistant", content }),
  ),
];
