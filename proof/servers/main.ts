// Runs a command with its own PostgreSQL and Redis, and ends them with it. They listen on free ports of 127.0.0.1, keep
// their files in a temporary folder, and are named in COLLOQUY_POSTGRES_URL and COLLOQUY_REDIS_URL; a server that one
// of these already names is used instead. COLLOQUY_CHROMIUM names a headless browser, COLLOQUY_RESTATE_URL and
// COLLOQUY_RESTATE_ADMIN_URL a Restate if `pnpm engines:install` has installed one. Other missing programs are unpacked
// from Debian's packages.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

const usage = `Usage: pnpm servers <command> [arguments]

  pnpm servers pnpm test`;

interface Servers {
  readonly urls: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

/** Starts the servers. Returns null if one could not start; the keeper has printed why. */
const startServers = async (): Promise<Servers | null> => {
  const keeper = spawn(process.execPath, [join(import.meta.dirname, "keeper.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
    // In its own process group, so that Ctrl-C reaches only the command, which may still need its servers.
    detached: true,
  });
  const exit = once(keeper, "exit");
  const line = once(createInterface(keeper.stdout), "line");
  const first = await Promise.race([line, exit.then(() => null)]);
  if (first === null) return null;
  return {
    // Our own keeper writes this JSON.
    urls: JSON.parse(String(first[0])) as Servers["urls"],
    stop: async () => {
      keeper.stdin.end();
      await exit;
    },
  };
};

const main = async (): Promise<void> => {
  const [command, ...args] = process.argv.slice(process.argv[2] === "--" ? 3 : 2);
  if (command === undefined) {
    console.error(usage);
    process.exitCode = 2;
    return;
  }
  const servers = await startServers();
  if (servers === null) {
    console.error("The servers could not be started.");
    process.exitCode = 1;
    return;
  }
  const { urls, stop } = servers;
  for (const [name, url] of Object.entries(urls)) console.log(`${name}=${url}`);
  try {
    const child = spawn(command, args, { stdio: "inherit", env: { ...process.env, ...urls } });
    process.exitCode = await exitCodeOf(child);
  } catch (error) {
    console.error(`${command}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 127;
  } finally {
    await stop();
  }
};

/** Returns the exit code of the command, which gets this process's signals; 128 or more if a signal ended it. */
const exitCodeOf = async (child: ChildProcess): Promise<number> => {
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on("SIGINT", forward).on("SIGTERM", forward).on("SIGHUP", forward);
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 130;
};

await main();
