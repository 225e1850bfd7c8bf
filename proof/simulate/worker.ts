// Simulates the seeds that it is sent, and sends back what they came to.
import { parentPort } from "node:worker_threads";

import { type Seeds, simulateSeeds } from "./seeds.ts";

parentPort?.on("message", (seeds: Seeds) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
  void simulateSeeds(seeds).then((outcome) => parentPort?.postMessage(outcome));
});
