// Starts the double of OpenSearch's memory API, for people with a tester of their own, until a signal ends it.
import { openSearchServer, openSearchVersions } from "@colloquy/runtime-test/opensearch";

import { runCommand } from "../kit/command.ts";
import { oneOf, whole } from "../kit/options.ts";

await runCommand({
  name: "opensearch",
  options: {
    port: whole(0, "the port on 127.0.0.1; 0 for one that is free", { least: 0, most: 65_535, placeholder: "PORT" }),
    version: oneOf(openSearchVersions, "3.0", `the version that it speaks as: ${openSearchVersions.join(", ")}`),
  },
  run: async ({ port, version }) => {
    let last = 0;
    // The real time, but no two times are equal.
    const clock = { now: () => (last = Math.max(Date.now(), last + 1)) };
    const server = await openSearchServer({ version, port, clock });
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void server.close());
    console.log(`OpenSearch ${version}: ${server.url}`);
  },
});
