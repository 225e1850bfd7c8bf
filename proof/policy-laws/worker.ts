import { parentPort, workerData } from "node:worker_threads";
import { checkSeeds, type Share } from "./check-seeds.ts";

// The command gives it.
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
parentPort?.postMessage(checkSeeds(workerData as Share));
