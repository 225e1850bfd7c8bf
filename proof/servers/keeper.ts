// Keeps servers running while its parent process lives. Prints their addresses in one line of JSON. When its input
// ends, which even a killed parent causes, it ends them and removes their files.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { chromiumProgram } from "./chromium.ts";
import { startPostgres } from "./postgres.ts";
import type { Server } from "./process.ts";
import { startRedis } from "./redis.ts";
import { startRestate } from "./restate.ts";
import { restateProgram } from "./restate-package.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-servers-"));
// A server in it may run as another user.
chmodSync(folder, 0o755);

const folderFor = (name: string): string => {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
};

const makers = {
  COLLOQUY_POSTGRES_URL: () => startPostgres({ folder: folderFor("postgres"), settings: { fsync: "off" } }),
  COLLOQUY_REDIS_URL: () => startRedis({ folder: folderFor("redis") }),
} satisfies Record<string, () => Promise<Server>>;

const servers: Server[] = [];

const start = async (): Promise<void> => {
  const urls: Record<string, string> = {};
  for (const [name, make] of Object.entries(makers)) {
    if ((process.env[name] ?? "") !== "") continue;
    const server = await make();
    servers.push(server);
    urls[name] = server.url;
  }
  // It is large, so it starts only if `pnpm engines:install` has installed it.
  if ((process.env["COLLOQUY_RESTATE_URL"] ?? "") === "" && restateProgram() !== null) {
    const restate = await startRestate({ folder: folderFor("restate") });
    servers.push(restate);
    urls["COLLOQUY_RESTATE_URL"] = restate.url;
    urls["COLLOQUY_RESTATE_ADMIN_URL"] = restate.adminUrl;
  }
  if ((process.env["COLLOQUY_CHROMIUM"] ?? "") === "") urls["COLLOQUY_CHROMIUM"] = chromiumProgram(folder);
  console.log(JSON.stringify(urls));
};

const end = async (): Promise<void> => {
  // A server that is just starting is ended as well.
  await started;
  await Promise.all(servers.map(({ stop }) => stop()));
  rmSync(folder, { recursive: true, force: true });
  process.exit();
};

process.stdin.on("end", () => void end()).resume();
process.on("SIGTERM", () => void end());

const started = start().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
await started;
if (process.exitCode === 1) await end();
