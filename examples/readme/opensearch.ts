import { openSearchMemory } from "@colloquy/memories/opensearch";
import { openSearchServer } from "@colloquy/runtime-test/opensearch";
import { Client } from "@opensearch-project/opensearch";

const server = await openSearchServer({ version: "3.0" }); // a double of the service, on this machine
const client = new Client({ node: server.url });
const memory = openSearchMemory(client);

const created = await memory.create("Books");
if ("left" in created) throw new Error(created.left.reason);
await memory.add(created.right, { input: "Who wrote Emma?", response: "Jane Austen." });

const said = await memory.conversation(created.right);
console.log("right" in said ? said.right.map(({ response }) => response) : said.left.reason);
await client.close();
await server.close();
