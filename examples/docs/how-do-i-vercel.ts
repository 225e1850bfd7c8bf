// app/api/chat/[[...path]]/route.ts at Vercel, for docs/how-do-i-run.md. It opens no connection before the first request.
import { createHost, openaiChat } from "@colloquy/runtime-node";
import { postgresStore } from "@colloquy/runtime-node/postgres";
import { uiChat } from "@colloquy/server";
import { Pool } from "pg";

// Put your own sessions here: the user of a request, and the chats of a user.
const authenticate = ({ headers }: Request) => (headers.get("cookie") === "user=ada" ? { id: "ada" } : null);
const mayUse = (user: { readonly id: string }, threadId: string) => threadId.startsWith(`${user.id}_`);

export const maxDuration = 300; // seconds: longer than a turn may take

const pool = new Pool({ connectionString: process.env["DATABASE_URL"], max: 2 }); // a pooler's address
export const host = createHost({
  llm: openaiChat({ model: "gpt-4o-mini" }),
  store: postgresStore({ pool }), // a function has no disk that lasts
  machine: { limits: { deadlineMs: 240_000 } },
  partsMs: 200, // another function can resume the stream
});
export const { GET, POST } = uiChat(host, { path: "/api/chat", authenticate, mayUse });
