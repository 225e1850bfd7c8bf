import type { Host, HostedThread } from "@colloquy/host";
import type { View } from "../views/view.ts";
import { named } from "../text/printable.ts";

/** A command line that begins with a slash, and its function. */
export interface Command {
  /** With the slash. */
  readonly name: string;
  /** The arguments after the name, such as `[TURN]`; empty if there are none. */
  readonly usage: string;
  /** A description in one line. */
  readonly help: string;
  readonly complete?: (target: CommandTarget) => Promise<readonly string[]>;
  /** Performs the command. Rejects with the problem; nothing is changed then. */
  readonly perform: (target: CommandTarget, argument: string) => void | Promise<void>;
}

/**
 * Makes a command from its call, such as `/undo [N]`, which its function gets for its errors. `complete` returns the
 * possible arguments.
 */
export const command = (
  call: string,
  help: string,
  perform: (target: CommandTarget, argument: string, call: string) => void | Promise<void>,
  complete?: (target: CommandTarget) => Promise<readonly string[]>,
): Command => {
  const [name = "", ...usage] = call.split(" ");
  return {
    name,
    usage: usage.join(" "),
    help,
    perform: (target, argument) => perform(target, argument, call),
    ...(complete === undefined ? {} : { complete }),
  };
};

/** The conversation in which commands are typed, and its functions for them. */
export interface CommandTarget {
  readonly host: Host;
  readonly thread: HostedThread;
  /** Shows a text below the conversation. */
  readonly say: (text: string) => void;
  /** Shows a view. Plain terminals show its lines. */
  readonly open: (view: View) => void;
  /** Puts a text into the input, for the person to change and send. */
  readonly propose: (text: string) => void;
  /** Switches to the thread of an id. */
  readonly turnTo: (threadId: string) => Promise<void>;
  readonly newThreadId: () => string | Promise<string>;
  readonly copy: (text: string) => void;
  /** The keys of each action, and its description. */
  readonly keys: () => readonly (readonly [keys: string, does: string])[];
  readonly end: () => void;
  /** The choices by name; null if there is no choice. */
  readonly models: Choice | null;
  readonly themes: Choice | null;
}

/** A setting that is chosen by its name. */
export interface Choice {
  /** The known names; others may be chosen as well. */
  readonly names: () => readonly string[] | Promise<readonly string[]>;
  readonly present: () => string;
  /** @throws Error for an unknown name */
  readonly choose: (name: string) => void;
}

/** Parses a whole number. @throws Error with the command's usage */
export const numberIn = (argument: string, usage: string, fallback?: number): number => {
  if (argument === "" && fallback !== undefined) return fallback;
  if (/^\d+$/.test(argument) && Number.isSafeInteger(Number(argument))) return Number(argument);
  throw new Error(
    argument === "" ? `this takes a number: ${usage}` : `${named(argument)} is not a whole number: ${usage}`,
  );
};

/** Returns the argument. @throws Error with the command's usage if it is empty */
export const textIn = (argument: string, usage: string): string => {
  if (argument === "") throw new Error(`this takes more: ${usage}`);
  return argument;
};

/** Returns whether the argument is "yes". Otherwise shows `question`, which says what the command would do. */
export const isConfirmed = (word: string, say: (text: string) => void, question: string): boolean => {
  if (word === "yes") return true;
  say(question);
  return false;
};
