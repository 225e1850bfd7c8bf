import type { Host, HostedThread } from "@colloquy/host";
import type { View } from "../views/view.ts";

/** A line that begins with a slash, and what it does. */
export interface Command {
  /** With the slash. */
  readonly name: string;
  /** What follows the name, such as `[TURN]`; empty where nothing does. */
  readonly usage: string;
  /** What it does, in one line. */
  readonly help: string;
  /** What its argument may be. */
  readonly complete?: (target: CommandTarget) => Promise<readonly string[]>;
  /** Rejects with what is wrong: nothing is changed then. */
  readonly perform: (target: CommandTarget, argument: string) => void | Promise<void>;
}

/** What commands do something with: the conversation that they are typed in. */
export interface CommandTarget {
  readonly host: Host;
  readonly thread: HostedThread;
  /** Shows a text below what there is. */
  readonly say: (text: string) => void;
  /** Shows a view. Plain terminals show its lines. */
  readonly open: (view: View) => void;
  /** Puts a text into the input, to be changed and sent. */
  readonly propose: (text: string) => void;
  /** Goes on with the thread of an id. */
  readonly turnTo: (threadId: string) => Promise<void>;
  readonly newThreadId: () => string | Promise<string>;
  readonly copy: (text: string) => void;
  /** The keys of each action, and what it does. */
  readonly keys: () => readonly (readonly [keys: string, does: string])[];
  readonly end: () => void;
  /** Those that can be chosen, by their names; null where there is nothing to choose. */
  readonly models: Choice | null;
  readonly themes: Choice | null;
}

/** Something that is chosen by its name. */
export interface Choice {
  readonly names: readonly string[];
  readonly present: () => string;
  /** @throws Error for a name that there is not */
  readonly choose: (name: string) => void;
}
