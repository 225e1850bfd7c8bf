// A worker with a mistake built in, on its sources.
import { seedFault } from "./faults.ts";
import type { WorkerOptions } from "./worker.ts";

const main = async (options: WorkerOptions): Promise<void> => {
  if (options.fault !== null) seedFault(options.fault);
  // Behind the mistake: what it imports is wrong by now.
  const { work } = await import("./worker.ts");
  await work(options);
};

// The driver writes them.
if (import.meta.main) await main(JSON.parse(process.argv[2] ?? "") as WorkerOptions);
