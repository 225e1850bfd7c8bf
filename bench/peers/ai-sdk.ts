// The AI SDK: the application keeps the messages, and its documentation saves the whole chat after each turn.
import { generateText, jsonSchema, type ModelMessage, stepCountIs, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { answerText, toolArguments, toolResult } from "../kit/work.ts";
import type { OpenPeer } from "./peer.ts";

export const aiSdk: OpenPeer = async (path) => {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
  database.exec("CREATE TABLE chat (id TEXT PRIMARY KEY, messages TEXT NOT NULL)");
  const save = database.prepare("INSERT OR REPLACE INTO chat VALUES ('main', ?)");
  const model = instantModel();
  const tools = {
    lookup: tool({
      description: "Looks a thing up.",
      inputSchema: jsonSchema<{ query?: string }>({ type: "object", properties: { query: { type: "string" } } }),
      execute: () => toolResult(1),
    }),
  };
  const messages: ModelMessage[] = [];
  return {
    turn: async (text) => {
      messages.push({ role: "user", content: text });
      const { response } = await generateText({ model, tools, messages, stopWhen: stepCountIs(20) });
      messages.push(...response.messages);
      save.run(JSON.stringify(messages));
    },
    close: async () => {
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      database.close();
      return statSync(path).size;
    },
  };
};

const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 50, text: 50, reasoning: 0 },
};

const instantModel = (): MockLanguageModelV4 => {
  let calls = 0;
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      calls++;
      return prompt.at(-1)?.role === "tool"
        ? {
            content: [{ type: "text", text: answerText(calls) }],
            finishReason: { unified: "stop", raw: "stop" },
            usage,
            warnings: [],
          }
        : {
            content: [
              { type: "tool-call", toolCallId: `call_${calls}`, toolName: "lookup", input: toolArguments(calls) },
            ],
            finishReason: { unified: "tool-calls", raw: "tool_calls" },
            usage,
            warnings: [],
          };
    },
  });
};
