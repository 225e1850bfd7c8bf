import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { JsonObject } from "@colloquy/machine";
import type { NamedJournal } from "@colloquy/machine/inspect";
import { fromChatMessages } from "@colloquy/interchange";
import { addedJournal } from "./journal.ts";

/** Returns the recorded conversations as imported threads. Without recordings it prints a line and returns none. */
export const recordedJournals = (): readonly NamedJournal[] => {
  const folder = process.env["COLLOQUY_RECORDINGS"] ?? join(import.meta.dirname, "../../../../../shared/recordings");
  if (!existsSync(folder)) {
    console.log(`skipped: no recordings at ${folder} (set COLLOQUY_RECORDINGS to where they are)`);
    return [];
  }
  return globSync("*.jsonl", { cwd: folder })
    .toSorted()
    .flatMap((file) => {
      const lines = readFileSync(join(folder, file), "utf8").split("\n");
      return lines.flatMap((line, index) => {
        const messages = line.includes('"steps"') ? messagesIn(JSON.parse(line)) : [];
        return messages.length === 0 ? [] : journalOf(`${basename(file, ".jsonl")}-${index}`, messages);
      });
    });
};

const messagesIn = (recorded: { readonly [field: string]: unknown }): readonly unknown[] => {
  const { api, system, system_role: role, seed, steps } = recorded;
  if (api !== "chat.completions" || !Array.isArray(steps)) return [];
  const first = typeof system === "string" && system !== "@common" ? [{ role: role ?? "system", content: system }] : [];
  return [...first, ...(Array.isArray(seed) ? seed : []), ...steps.map(messageOf)];
};

const messageOf = (step: JsonObject): unknown => {
  const { type, content, tool_call_id: id, message, echo } = step;
  if (type === "user") return { role: "user", content };
  if (type === "tool") return { role: "tool", tool_call_id: id, content };
  return type === "llm" ? Object.assign({}, echo ?? message, { role: "assistant" }) : message;
};

const journalOf = (name: string, messages: readonly unknown[]): readonly NamedJournal[] => {
  const read = fromChatMessages(messages, { repair: true });
  if ("left" in read) return [];
  const { system, turns } = read.right;
  const events = turns.map((said) => ({ type: "turn.added", at: 0, messages: said }) as const);
  return [addedJournal(events, name, system)];
};
