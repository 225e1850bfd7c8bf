#!/usr/bin/env node
import { runCommand } from "./command.ts";
import { endingOf } from "./process-ending.ts";

process.exitCode = await runCommand(process.argv.slice(2), {
  input: process.stdin,
  output: process.stdout,
  error: process.stderr,
  isTerminal: process.stdin.isTTY && process.stdout.isTTY,
  environment: process.env,
  signal: endingOf(process),
});
