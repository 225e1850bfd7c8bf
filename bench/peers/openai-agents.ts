// OpenAI's agents: a session with its five methods over SQLite, a row for each item, as its documentation shows.
import {
  Agent,
  type AgentInputItem,
  type Model,
  type ModelResponse,
  Runner,
  type Session,
  setTracingDisabled,
  tool,
  Usage,
} from "@openai/agents-core";
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { answerText, toolArguments, toolResult } from "../kit/script.ts";
import type { OpenPeer } from "./peer.ts";

export const openAiAgents: OpenPeer = async (path) => {
  setTracingDisabled(true);
  const session = new SqliteSession(path);
  const agent = new Agent({
    name: "assistant",
    model: instantModel(),
    tools: [
      tool({
        name: "lookup",
        description: "Looks a thing up.",
        parameters: {
          type: "object",
          properties: { query: { type: "string" } },
          required: ["query"],
          additionalProperties: false,
        },
        strict: true,
        execute: () => toolResult(1),
      }),
    ],
  });
  const runner = new Runner({ tracingDisabled: true });
  return {
    turn: async (text) => void (await runner.run(agent, text, { session })),
    close: async () => {
      session.close();
      return statSync(path).size;
    },
  };
};

class SqliteSession implements Session {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
    this.#database.exec("CREATE TABLE item (seq INTEGER PRIMARY KEY, body TEXT NOT NULL)");
  }

  async getSessionId(): Promise<string> {
    return "main";
  }

  async getItems(limit?: number): Promise<AgentInputItem[]> {
    const rows = this.#database.prepare("SELECT body FROM item ORDER BY seq DESC LIMIT ?").all(limit ?? -1);
    // Cast: `addItems` stored these rows.
    return rows.toReversed().map(({ body }) => JSON.parse(String(body)) as AgentInputItem);
  }

  async addItems(items: AgentInputItem[]): Promise<void> {
    const insert = this.#database.prepare("INSERT INTO item (body) VALUES (?)");
    for (const item of items) insert.run(JSON.stringify(item));
  }

  async popItem(): Promise<AgentInputItem | undefined> {
    const [last] = await this.getItems(1);
    this.#database.exec("DELETE FROM item WHERE seq = (SELECT max(seq) FROM item)");
    return last;
  }

  async clearSession(): Promise<void> {
    this.#database.exec("DELETE FROM item");
  }

  close(): void {
    this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    this.#database.close();
  }
}

const instantModel = (): Model => {
  let calls = 0;
  return {
    getResponse: async ({ input }): Promise<ModelResponse> => {
      calls++;
      const last = typeof input === "string" ? undefined : input.at(-1);
      return {
        usage: new Usage({ requests: 1, inputTokens: 100, outputTokens: 50, totalTokens: 150 }),
        output: [
          last?.type === "function_call_result"
            ? {
                type: "message",
                role: "assistant",
                status: "completed",
                content: [{ type: "output_text", text: answerText(calls) }],
              }
            : {
                type: "function_call",
                callId: `call_${calls}`,
                name: "lookup",
                status: "completed",
                arguments: toolArguments(calls),
              },
        ],
      };
    },
    getStreamedResponse: () => {
      throw new Error("nothing here streams");
    },
  };
};
