// Starts the double of OpenSearch's memory API, for testers in other languages, until a signal ends it.
import { openSearchServer, openSearchVersions } from "@colloquy/runtime-test/opensearch";

import { runCommand } from "../kit/command.ts";
import { oneOf, whole } from "../kit/options.ts";

await runCommand({
  name: "opensearch",
  options: {
    port: whole(0, "the port on 127.0.0.1; 0 for a free one", { least: 0, most: 65_535, placeholder: "PORT" }),
    version: oneOf(openSearchVersions, "3.0", `the version to imitate: ${openSearchVersions.join(", ")}`),
  },
  run: async ({ port, version }) => {
    let last = 0;
    // Real time, but all times differ.
    const clock = { now: () => (last = Math.max(Date.now(), last + 1)) };
    const server = await openSearchServer({ version, port, clock });
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void server.close());
    console.log(`OpenSearch ${version}: ${server.url}`);
  },
});
