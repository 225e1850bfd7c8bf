import type { Host, HostedThread } from "@colloquy/host";
import type { View } from "../views/view.ts";

/** A command line that begins with a slash, and its function. */
export interface Command {
  /** With the slash. */
  readonly name: string;
  /** The arguments after the name, such as `[TURN]`; empty if there are none. */
  readonly usage: string;
  /** A description in one line. */
  readonly help: string;
  /** Returns the possible arguments. */
  readonly complete?: (target: CommandTarget) => Promise<readonly string[]>;
  /** Performs the command. Rejects with the problem; nothing is changed then. */
  readonly perform: (target: CommandTarget, argument: string) => void | Promise<void>;
}

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
  readonly names: readonly string[];
  readonly present: () => string;
  /** @throws Error for an unknown name */
  readonly choose: (name: string) => void;
}
