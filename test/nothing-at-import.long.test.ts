import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";

/** Makes the process exit when it uses a network. Loaded before the import under test. */
const noNetwork = `
import net from "node:net";
const refuse = () => { console.error("the network was used"); process.exit(3); };
globalThis.fetch = refuse;
net.connect = net.createConnection = net.Socket.prototype.connect = refuse;
`;

const empty = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-import-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Imports a module in an empty folder and environment. */
const imported = (path: string, folder: string) => {
  const preload = `data:text/javascript,${encodeURIComponent(noNetwork)}`;
  const module = pathToFileURL(join(import.meta.dirname, "..", path)).href;
  const code = `await import(${JSON.stringify(module)}); console.log("imported");`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", preload, "--input-type=module", "--eval", code],
    { cwd: folder, env: { PATH: process.env["PATH"] ?? "" }, encoding: "utf8" },
  );
  return { status, lastLine: stdout.trim().split("\n").at(-1), stderr };
};

test.each([
  "examples/21-chat-backend/route.ts",
  "examples/14-web-backend.ts",
  "examples/25-cloudflare-worker/worker.ts",
])("importing %s makes no file, asks for no key, and calls nobody", (path) => {
  const folder = empty();
  expect(imported(path, folder)).toEqual({ status: 0, lastLine: "imported", stderr: "" });
  expect(readdirSync(folder)).toEqual([]);
});
