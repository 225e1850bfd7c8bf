#!/usr/bin/env node
import { endingOf } from "@colloquy/terminal/printing";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 18)) {
  console.error(`colloquy needs Node 22.18 or newer; this is Node ${process.versions.node}`);
  process.exitCode = 2;
} else {
  // Only now: older versions lack modules that it needs.
  const { runCommand } = await import("./command.ts");
  const { stdin, stdout, stderr } = process;
  process.exitCode = await runCommand(process.argv.slice(2), {
    input: stdin,
    output: stdout,
    error: stderr,
    isTerminal: stdin.isTTY && stdout.isTTY,
    inputIsTerminal: stdin.isTTY,
    outputIsTerminal: stdout.isTTY,
    environment: process.env,
    folder: process.cwd(),
    signal: endingOf(process),
  });
}
