// Keeps threads in Redis, by a client of its own or by yours: docs/redis.md shows it.
import { createHost } from "@colloquy/runtime-node";
import { redisStore } from "@colloquy/runtime-node/redis";
import { ruleModel } from "@colloquy/runtime-test/models";
import { createClient } from "redis";

const llm = ruleModel([{ name: "all", when: () => true, answer: () => "A line." }]);
const url = process.env["COLLOQUY_REDIS_URL"] ?? "";
const prefix = `example-${process.pid}:`;

{
  await using store = redisStore({ url, prefix });
  await using host = createHost({ llm, store });
  console.log((await host.ask("What is a queue?", { threadId: "ada" })).text);
}

const client = createClient({ url, disableOfflineQueue: true }); // calls fail while the server is away
await client.connect();
const store = redisStore({ client, prefix });

const policy = await client.configGet("maxmemory-policy");
if (policy["maxmemory-policy"] !== "noeviction") throw new Error("this Redis would evict threads");

const host = createHost({ llm, store });
await host.thread("ada").delete();
await host.close();
await store.close(); // your client stays open

await client.sendCommand(["BGREWRITEAOF"]); // the append-only file loses the deleted words too
await client.del(await client.keys(`${prefix}*`));
await client.close();
