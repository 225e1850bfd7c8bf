// A conversation in OpenSearch's memory, written and read at any version. Here the service is a double on this machine;
// for a real one give the Client its node and credentials.
import { openSearchMemory } from "@colloquy/memories/opensearch";
import { openSearchServer } from "@colloquy/runtime-test/opensearch";
import { Client } from "@opensearch-project/opensearch";
import * as Either from "fp-ts/lib/Either.js";

for (const version of ["2.11", "3.0"] as const) {
  const server = await openSearchServer({ version });
  const client = new Client({ node: server.url, auth: { username: "ada", password: "secret" } });
  const memory = openSearchMemory(client);

  const created = await memory.create("Books");
  if (Either.isLeft(created)) throw new Error(created.left.reason);
  const id = created.right;
  await memory.add(id, { input: "What is the best-selling novel?", response: "Don Quixote.", info: { turn: "1" } });
  await memory.add(id, { input: "Who wrote it?", response: "Miguel de Cervantes." });

  const said = await memory.conversation(id);
  if (Either.isLeft(said)) throw new Error(said.left.reason);
  console.log(`${version}: ${said.right.map(({ input, response }) => `${input} ${response}`).join(" | ")}`);

  const refused = await memory.add("elsewhere", { input: "Hello?" });
  if (Either.isLeft(refused)) console.log(`${version}: ${refused.left.status} ${refused.left.reason}`);

  await client.close();
  await server.close();
}
