import type { Host, HostedThread } from "@colloquy/host";
import type { Content, Json, RequestApproval } from "@colloquy/machine";
import type { FileChange } from "../blocks/block.ts";
import type { Choice } from "../commands/command.ts";
import type { HistoryPort } from "../input/history.ts";
import type { Keymap } from "../input/keymap.ts";
import type { TerminalAsk } from "./answering.ts";
import type { ScreenPort } from "./screen-port.ts";

/** The options of a conversation on a screen. */
export interface TerminalConversationOptions {
  /** Stays open afterwards. */
  readonly host: Host;
  /** The thread to continue or begin. */
  readonly threadId: string;
  readonly port: ScreenPort;
  /** Asks on the thread of an id. Default: without options. */
  readonly ask?: (input: Content, threadId: string) => TerminalAsk;
  /** Attaches the files that typed texts name. Default: none. */
  readonly attachments?: AttachmentPort;
  /** Returns how a call with such arguments would change a file; null if it would not. Default: null. */
  readonly changeOf?: (given: Json) => FileChange | null;
  /** The approvals that tools wait for on other threads, such as those of subagents. Default: none are answered. */
  readonly nested?: NestedApprovalPort;
  /** Default: texts that begin with `!` are questions too. */
  readonly shell?: ShellPort;
  /** Whether texts may be sent into an open turn. Default true. */
  readonly steers?: boolean;
  /** Returns lines to show after the figures of a turn. Default: none. */
  readonly notes?: (threadId: string, turn: number) => Promise<readonly string[]>;
  /** Called with the id of the thread of the next questions: at the beginning, and when another is chosen. */
  readonly turnedTo?: (threadId: string) => void;
  /** Returns the id of a new thread. Default: an id that the host draws. */
  readonly newThreadId?: () => string | Promise<string>;
  /** Default: the standard keymap. */
  readonly keymap?: Keymap;
  /** Stores typed inputs for later conversations. Default: they are not stored. */
  readonly history?: HistoryPort;
  /**
   * The agent in the status line, with a label before each figure, as in the terminal with the `seed` keymap. Default:
   * no labels.
   */
  readonly agentLabel?: string;
  /** The name of the answering agent. Default `Agent`. */
  readonly name?: string;
  /** Edits a text in another program, which uses the terminal meanwhile; null if it was not edited. */
  readonly editText?: (text: string) => Promise<string | null>;
  readonly models?: Choice;
  readonly themes?: Choice;
  /** Whether the bell rings at the end of an answer. Default false. */
  readonly bell?: boolean;
  /** A question to ask at the beginning. */
  readonly question?: string;
  /** The output beside answers: only errors, short notices, or everything. Default `some`. */
  readonly detail?: "none" | "some" | "all";
  /** Whether answers are shown as they stream in. Default true. */
  readonly streams?: boolean;
  /** Called at the beginning with a function that shows other texts, such as the sent prompt. */
  readonly notices?: (show: (text: string) => void) => void;
  /**
   * Returns the milliseconds of a monotonic clock: a key at an approval counts only after a pause. Default: the clock
   * of the process.
   */
  readonly now?: () => number;
  /** Ends the conversation; the open turn is cancelled. */
  readonly signal?: AbortSignal;
}

/** Approvals that are not requested by the thread of the conversation, but by those that its tools ask. */
export interface NestedApprovalPort {
  /** Calls a listener at each request. Returns a function that removes it. */
  readonly onRequest: (listener: () => void) => () => void;
  /** Returns those that the tools of a thread wait for now. */
  readonly waiting: (threadId: string) => Promise<readonly NestedApproval[]>;
}

export interface NestedApproval {
  readonly request: RequestApproval;
  /** The thread on which it is answered. */
  readonly thread: HostedThread;
  /** The agent that calls the tool, such as `head/clerk`. */
  readonly by: string;
}

/** The files that a typed text may name, each as `@PATH`. */
export interface AttachmentPort {
  /** Returns a typed text with the files that it names. @throws Error for a file that cannot be attached */
  readonly contentOf: (text: string) => Content;
  /** Returns the paths that begin with a text, for completion; folders end with a slash. */
  readonly pathsFrom: (prefix: string) => readonly string[];
}

/** A shell for typed lines that begin with `!`. */
export interface ShellPort {
  /** The folder in which commands run. */
  readonly folder: string;
  /**
   * Runs a command to its end, or until the signal stops it. Returns what it printed, without the beginning if that is
   * long, and how it ended, such as `exit code 1`. Rejects if nothing may run there.
   */
  readonly run: (command: string, signal: AbortSignal) => Promise<{ readonly output: string; readonly ending: string }>;
}
