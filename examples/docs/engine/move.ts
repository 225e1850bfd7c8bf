// Takes a thread from Restate into a file, asks there, and takes it back.
import { createHost, openaiChat, sqliteStore } from "@colloquy/runtime-node";
import { connect } from "@colloquy/runtime-restate";

const { RESTATE_URL = "http://127.0.0.1:8080" } = process.env;
const store = sqliteStore({ path: "threads.db" });
const local = createHost({ llm: openaiChat({ model: "gpt-4o-mini" }), store });
const engine = connect({ url: RESTATE_URL });

await engine.thread("ada").moveTo(local);
console.log((await local.ask("Is it on its way?", { threadId: "ada" })).text);
await local.thread("ada").moveTo(engine);

await local.close();
await store.close();
await engine.close();
