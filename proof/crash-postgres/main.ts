// Kills a PostgreSQL of its own, the postmaster and all backends, with SIGKILL while stores append to it, starts it
// again, and checks that every acknowledged entry is there, that nothing is there which no writer wrote, and that the
// same stores continue to work. Exits with 1 when anything is wrong.
import { postgresStore } from "@colloquy/runtime-node/postgres";

import { crashServer, runServerCommand, type ServerCrashes } from "../crash-server/run.ts";
import { startPostgres } from "../servers/postgres.ts";

const faults = {
  "asynchronous-commit": "the server acknowledges what it has not written yet",
} as const;

/** Kills a server so many times, or until something is wrong. */
export const crashPostgres = (
  runs: number,
  seed: number,
  fault: keyof typeof faults | null,
): Promise<ServerCrashes> => {
  // The machine stays on: what the server has handed to the operating system survives its death without fsync.
  const settings = { fsync: "off", ...(fault !== null && { synchronous_commit: "off" }) };
  return crashServer(
    {
      start: (folder, port) => startPostgres({ folder, port, settings }),
      open: (connectionString) => postgresStore({ connectionString }),
    },
    runs,
    seed,
  );
};

if (import.meta.main) await runServerCommand("crash-postgres", "A PostgreSQL", faults, crashPostgres);
