#!/usr/bin/env node
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 18)) {
  console.error(`colloquy needs Node 22.18 or newer; this is Node ${process.versions.node}`);
  process.exitCode = 2;
} else {
  // Loaded after the check, because older versions of Node lack modules that it needs.
  const { textAskedFor } = await import("./arguments.ts");
  const args = process.argv.slice(2);
  const text = await textAskedFor(args, () => process.stdin.isTTY && process.stdout.isTTY);
  if (text === null) {
    const { runCommand } = await import("./command.ts");
    const { endingOf } = await import("@colloquy/cli/printing");
    const { stdin, stdout, stderr } = process;
    process.exitCode = await runCommand(args, {
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
  } else {
    // A reader that closed the pipe has what it wanted.
    process.stdout.on("error", () => {}).write(text);
  }
}
