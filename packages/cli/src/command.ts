import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { chat } from "./chat.ts";
import { compare } from "./compare.ts";
import { explainJournal } from "./explain.ts";
import type { CommandContext, CommandSetting } from "./command-context.ts";
import { exportThreads } from "./export.ts";
import { importThreads } from "./import.ts";
import { wantsColour } from "@colloquy/terminal";
import { failureText } from "@colloquy/terminal";
import { oneLine } from "@colloquy/terminal";
import { Printer } from "@colloquy/terminal";
import { optionKinds, type OptionValues } from "./options.ts";
import { rerunJournals } from "./rerun.ts";
import { listThreads } from "./threads.ts";

/** Runs `colloquy` with these arguments. Gives the exit code: 0; 1 for what went wrong; 2 for invalid arguments. */
export const runCommand = async (args: readonly string[], setting: CommandSetting): Promise<number> => {
  const { output, error, ...process } = setting;
  const printer = new Printer(output, wantsColour(setting.isTerminal, setting.environment));
  const context: CommandContext = { ...process, printer, errors: new Printer(error) };
  const refused = (problem: string): number => {
    context.errors.line(`colloquy: ${problem}. Run \`colloquy --help\` for what there is.`);
    return 2;
  };
  let given: ReturnType<typeof parse>;
  try {
    given = parse(args);
  } catch (thrown) {
    return refused(problemOfArguments(args, thrown));
  }
  const { values, positionals } = given;
  const [name, ...rest] = positionals;
  if (values.version === true) {
    printer.line(version());
    return 0;
  }
  if (values.help === true || name === undefined) {
    printer.text(help);
    return 0;
  }
  const command = commandNamed(name);
  if (command === undefined || (rest.length > 0 && !command.takesPaths))
    return refused(`there is no command "${oneLine(positionals.join(" "))}"`);
  const problem = problemOfOptions(name, command.options, Object.keys(values));
  if (problem !== null) return refused(problem);
  try {
    return await command.run(rest, values, context);
  } catch (thrown) {
    context.errors.line(`colloquy: ${failureText(thrown)}`);
    return 1;
  }
};

interface Command {
  /** The options that it knows, by their names. */
  readonly options: readonly string[];
  readonly takesPaths: boolean;
  readonly run: (paths: readonly string[], values: OptionValues, context: CommandContext) => Promise<number>;
}

/** By name. */
export const commands: Readonly<Record<string, Command>> = {
  chat: {
    options: ["thread", "store", "model", "base-url", "system", "window", "agent", "allow-tools"],
    takesPaths: false,
    run: (_, values, context) => chat(values, context),
  },
  compare: { options: ["before", "after"], takesPaths: true, run: compare },
  explain: { options: ["options", "at"], takesPaths: true, run: explainJournal },
  rerun: {
    options: ["model", "base-url", "system", "options", "metric", "history"],
    takesPaths: true,
    run: rerunJournals,
  },
  threads: {
    options: ["store", "find"],
    takesPaths: false,
    run: (_, values, context) => listThreads(values, context),
  },
  export: {
    options: ["store", "as", "to", "all", "options", "per", "score", "min-score"],
    takesPaths: true,
    run: exportThreads,
  },
  import: { options: ["store", "from", "thread", "repair"], takesPaths: true, run: importThreads },
};

const commandNamed = (name: string): Command | undefined =>
  Object.hasOwn(commands, name) ? commands[name] : undefined;

const problemOfOptions = (command: string, known: readonly string[], given: readonly string[]): string | null => {
  const stray = given.find((name) => !known.includes(name));
  if (stray === undefined) return null;
  return `${command} has no option --${stray}; it has ${listed(known)}`;
};

/** What `parseArgs` refuses, in words of this command. */
const problemOfArguments = (args: readonly string[], thrown: unknown): string => {
  const message = failureText(thrown);
  const option = /^(?:Unknown option|Option) '(?:-\w, )?(--?[^ '=]+)/.exec(message)?.[1];
  if (option === undefined) return message;
  if (message.startsWith("Unknown")) {
    const [name = ""] = args;
    const known = commandNamed(name);
    const there = known === undefined ? "" : `; ${name} has ${listed(known.options)}`;
    return `there is no option ${option}${there}`;
  }
  if (message.includes("does not take")) return `${option} takes no value`;
  return `${option} needs a value; one that begins with a dash is written ${option}=-…`;
};

const listed = (options: readonly string[]): string => options.map((name) => `--${name}`).join(", ");

const parse = (args: readonly string[]) =>
  parseArgs({ args: withNegatives(args), allowPositionals: true, options: optionKinds });

/** `--at -1` as `--at=-1`: a negative number is a value, which is then refused by its name. */
const withNegatives = (args: readonly string[]): string[] =>
  args.reduce<string[]>((given, argument) => {
    const option = given.at(-1);
    if (option === undefined || !/^--[^=]+$/.test(option) || !/^-\d/.test(argument)) return [...given, argument];
    return [...given.slice(0, -1), `${option}=${argument}`];
  }, []);

const help = `colloquy: converse with a language model from the terminal

  colloquy chat [options]                 a conversation; from a pipe, each line is a question
  colloquy compare JOURNALS [options]     what two configurations would send in recorded conversations
  colloquy explain JOURNAL [options]      what the next prompt would show of one, and why
  colloquy rerun JOURNALS [options]       recorded conversations, asked again and side by side
  colloquy threads --store STORE          the threads that are kept, newest first
  colloquy export THREAD --store STORE    a thread, as its journal or as messages
  colloquy export --all --to FOLDER --store STORE
                                          all of them, each as a file
  colloquy export --all --as sft --to FILE --store STORE
                                          all of them, as one data set for training
  colloquy import FILES --store STORE     threads from journals, messages or data sets
  colloquy --help                         this
  colloquy --version                      the version

Options of chat:
  --thread ID       the thread to continue, or to begin (default: chat)
  --store STORE     what keeps threads: a SQLite file, or a folder (with a / at its end)
                    for files in JSON lines; made when it is not there, if the folder
                    around it is (default: none, nothing is kept)
  --model NAME      the model (default: OPENAI_MODEL, else gpt-4o-mini)
  --base-url URL    a server that speaks OpenAI's chat completions (default: OPENAI_BASE_URL, else OpenAI's)
  --system TEXT     the system prompt
  --window TOKENS   how many tokens the model takes, question and answer: older turns are
                    summed up when it fills (default: no bound)
  --agent FILE      the agent that a YAML or Markdown file describes; --model and --system go
                    before what it says
  --allow-tools     load the modules of its tools, which runs their code: only for files that you trust

Journals are files in JSON lines; compare and rerun take folders of .jsonl files too. A module's default export is a
machine's options, such as { policy: lastTurns(3) }; without one, everything is kept.

Options of compare:
  --before MODULE   the options of the one configuration
  --after MODULE    the options of the other; if it breaks a law, the exit code is 1

Options of explain:
  --options MODULE  the options of the machine
  --at ENTRY        the number of the entry to stop behind (default: the last)

Options of rerun:
  --model, --base-url, --system
                    as of chat; without --system each turn has the prompt that it was recorded with
  --options MODULE  the options of the machine, with its tools: calls are answered from the recordings
  --metric MODULE   its default export scores a turn: ({ question, answer, tools }, recorded) => number
  --history own     questions stand behind the answers of this time (default: recorded)

Options of threads:
  --find WORDS      where all of these words were said

Options of export and import:
  --as, --from      journal (default), chat (OpenAI's chat messages), responses (its Responses items),
                    model, ui (the AI SDK's ModelMessage and UIMessage); or a data set in JSON lines, of
                    one thread, several, or all: sft, dpo (OpenAI's fine-tuning), trl, and to write
                    trl-messages, trl-preferences
  --to FILE         write to a file that is not there yet, which only its owner may read
                    (default: to the output)
  --all             export every thread that is kept, each to a file in the folder --to
  --thread ID       the thread to make (default: the journal's own; of messages: drawn)
  --per turn|step   of a data set: an example for each turn (default), or for each reply in it
  --score NAME      of a data set: the annotation that scores a turn (default: score)
  --min-score N     of a data set: leave out what is scored lower, or not at all
  --options MODULE  of a data set: the options of the machine, with its tools and its counter
  --repair          mend messages: calls without results, results without calls; each is reported

The key for the server is read from OPENAI_API_KEY.
`;

const version = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const isManifest = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return isManifest ? String(manifest.version) : "unknown";
};
