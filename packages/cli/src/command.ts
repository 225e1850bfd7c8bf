import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { parseArgs } from "node:util";
import { chat } from "./chat.ts";
import { failureText } from "./terminal/failure-text.ts";

/** What a command has of its process. */
export interface CommandSetting {
  readonly input: Readable;
  readonly output: Writable;
  readonly error: Writable;
  /** Whether somebody types and reads. */
  readonly isTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted when the process is asked to end. */
  readonly signal: AbortSignal;
}

/** Runs `colloquy` with these arguments. Gives the exit code: 0; 1 for what went wrong; 2 for arguments that can't be meant. */
export const runCommand = async (args: readonly string[], setting: CommandSetting): Promise<number> => {
  let given: ReturnType<typeof parse>;
  try {
    given = parse(args);
  } catch (thrown) {
    setting.error.write(`colloquy: ${failureText(thrown)}\nRun \`colloquy --help\` for what there is.\n`);
    return 2;
  }
  const { values, positionals } = given;
  const [command, ...rest] = positionals;
  if (values.version === true) {
    setting.output.write(`${version()}\n`);
    return 0;
  }
  if (values.help === true || command === undefined) {
    setting.output.write(help);
    return 0;
  }
  if (command !== "chat" || rest.length > 0) {
    setting.error.write(
      `colloquy: there is no command "${positionals.join(" ")}". Run \`colloquy --help\` for what there is.\n`,
    );
    return 2;
  }
  try {
    return await chat(values, setting);
  } catch (thrown) {
    setting.error.write(`colloquy: ${failureText(thrown)}\n`);
    return 1;
  }
};

const parse = (args: readonly string[]) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: "boolean", short: "h" },
      version: { type: "boolean", short: "v" },
      thread: { type: "string" },
      store: { type: "string" },
      model: { type: "string" },
      "base-url": { type: "string" },
      system: { type: "string" },
      window: { type: "string" },
    },
  });

const help = `colloquy: converse with a language model from the terminal

  colloquy chat [options]    a conversation; from a pipe, each line is a question
  colloquy --help            this
  colloquy --version         the version

Options of chat:
  --thread ID       the thread to continue, or to begin (default: chat)
  --store FILE      the SQLite file that keeps threads (default: none, nothing is kept)
  --model NAME      the model (default: OPENAI_MODEL, else gpt-4o-mini)
  --base-url URL    a server that speaks OpenAI's chat completions (default: OPENAI_BASE_URL, else OpenAI's)
  --system TEXT     the system prompt
  --window TOKENS   how many tokens the model takes, question and answer: older turns are
                    summed up when it fills (default: no bound)

The key for the server is read from OPENAI_API_KEY.
`;

const version = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const isManifest = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return isManifest ? String(manifest.version) : "unknown";
};
