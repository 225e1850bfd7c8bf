import { connect } from "@colloquy/runtime-restate";
import { redisHub } from "@colloquy/runtime-restate/redis";

const { RESTATE_URL = "http://127.0.0.1:8080", REDIS_URL = "redis://127.0.0.1:6379" } = process.env;
const hub = redisHub({ url: REDIS_URL });
const host = connect({ url: RESTATE_URL, hub });

const asked = host.ask("Please refund order 5.", { threadId: "ada" });
for await (const part of asked) if (part.type === "text.delta") process.stdout.write(part.text);
await asked;
console.log();

await host.close();
await hub.close();
