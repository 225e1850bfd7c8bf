import { didYouMean, oneLine, Printer, wantsColour } from "@colloquy/cli/printing";
import { type Arguments, parseArguments, textAskedFor } from "./arguments.ts";
import { type Command, commandNamed, commands } from "./commands.ts";
import type { CommandContext, CommandSetting } from "./command-context.ts";
import { exitCodes } from "./exit-code.ts";

/** Runs `colloquy` with these arguments. Returns the exit code: see `exitCodes`. */
export const runCommand = async (args: readonly string[], setting: CommandSetting): Promise<number> => {
  const { output, error, ...process } = setting;
  const errors = new Printer(error);
  const refused = (problem: string): number => {
    errors.line(`colloquy: ${problem}. Run \`colloquy --help\` for what there is.`);
    return exitCodes.arguments;
  };
  let given: Arguments;
  try {
    given = parseArguments(args);
  } catch (thrown) {
    return refused(problemOfArguments(args, thrown));
  }
  const { values, positionals } = given;
  const { inputIsTerminal = setting.isTerminal, outputIsTerminal = setting.isTerminal } = setting;
  const colour = values["no-color"] !== true && wantsColour(outputIsTerminal, setting.environment);
  const printer = new Printer(output, colour);
  const context: CommandContext = { ...process, inputIsTerminal, outputIsTerminal, printer, errors };
  const text = await textAskedFor(args, () => setting.isTerminal);
  if (text !== null) {
    printer.text(text);
    return exitCodes.done;
  }
  const [name = "chat", ...words] = positionals;
  const command = commandNamed(name);
  if (command === undefined) {
    const meant = didYouMean(name, Object.keys(commands));
    return refused(`there is no command "${oneLine(positionals.join(" "))}"${meant}`);
  }
  if (words.length > 0 && command.takes === "nothing") {
    const isStore = command.options.store !== undefined && values.store === undefined;
    const wayOut = isStore ? "; a store is named by --store" : "";
    return refused(`${name} takes options alone, and "${oneLine(words.join(" "))}" is none${wayOut}`);
  }
  const stray = Object.keys(values).find((option) => !Object.hasOwn(command.options, option));
  const empty = Object.entries(values).find(
    ([option, value]) => !mayBeEmpty.has(option) && [value].flat().includes(""),
  );
  if (stray === undefined && empty !== undefined)
    return refused(`--${empty[0]} is empty; give it a value, or leave it out`);
  if (stray !== undefined) return refused(`${name} has no option --${stray}; it has ${optionsOf(command).join(", ")}`);
  try {
    const code = await command.run(words, values, context);
    // A reader that closed the pipe has what it wanted.
    return setting.signal.reason === "EPIPE" ? exitCodes.done : code;
  } catch (thrown) {
    // Loaded on demand: help and version need neither host nor machine.
    const [{ exitCodeOf }, { failureText }] = await Promise.all([
      import("./turn.ts"),
      import("@colloquy/cli/terminal"),
    ]);
    errors.line(`colloquy: ${cut(failureText(thrown))}`);
    // Except in a conversation, a command throws only for invalid arguments.
    return command.takes === "question" ? exitCodeOf(thrown) : exitCodes.arguments;
  }
};

/** With an empty `--resume`, the user chooses a thread; the other options may be empty texts. */
const mayBeEmpty = new Set(["resume", "system", "reason"]);

/** Cuts the message, because a value may be as long as a command line. */
const cut = (text: string): string => (text.length > 2_000 ? `${text.slice(0, 2_000).toWellFormed()}…` : text);

/** Describes the problem that `parseArgs` reports, in terms of this command. */
const problemOfArguments = (args: readonly string[], thrown: unknown): string => {
  const message = thrown instanceof Error ? oneLine(thrown.message) : "";
  const option = /^(?:Unknown option|Option) '(?:-\w, )?(--?[^ '=]+)/.exec(message)?.[1];
  if (option === undefined) return message;
  if (message.startsWith("Unknown")) {
    const [name = ""] = args;
    const known = commandNamed(name);
    if (known === undefined) return `there is no option ${option}`;
    const names = optionsOf(known);
    return `there is no option ${option}${didYouMean(option, names)}; ${name} has ${names.join(", ")}`;
  }
  if (message.includes("does not take")) return `${option} takes no value`;
  return `${option} needs a value; one that begins with a dash is written ${option}=-…`;
};

const optionsOf = ({ options }: Command): readonly string[] => Object.keys(options).map((name) => `--${name}`);
