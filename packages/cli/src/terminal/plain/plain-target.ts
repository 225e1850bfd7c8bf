import type { Host, HostedThread } from "@colloquy/host";
import type { Choice, CommandTarget } from "../commands/command.ts";
import type { Line } from "../text/line.ts";
import type { Printer } from "../text/printer.ts";

/** The options of a command target that only prints lines. */
export interface PlainTargetOptions {
  readonly host: Host;
  readonly thread: HostedThread;
  readonly printer: Printer;
  readonly turnTo: (threadId: string) => Promise<void>;
  /** Default: an id that the host draws. */
  readonly newThreadId?: () => string | Promise<string>;
  readonly end: () => void;
  readonly models: Choice | null;
}

/** Makes a command target that prints views and texts, line by line. */
export const plainTarget = ({
  host,
  thread,
  printer,
  turnTo,
  newThreadId,
  end,
  models,
}: PlainTargetOptions): CommandTarget => {
  const say = (text: string): void => printer.line(text, "dim");
  return {
    host,
    thread,
    say,
    open: (view) => {
      const { lines } = view.show({ columns: 100, rows: allRows });
      // A view ends with empty rows and key hints, which are not printed.
      const last = lines.slice(0, -1).findLastIndex((line) => line.length > 0);
      for (const line of lines.slice(0, last + 1)) printer.line(textOfLine(line));
    },
    propose: say,
    turnTo,
    newThreadId: newThreadId ?? ((): string => host.thread("new").id),
    // There is no clipboard.
    copy: (text) => printer.line(text),
    keys: () => [["ctrl+c", "cancels an answer; at the prompt it ends the conversation"]],
    end,
    models,
    themes: null,
  };
};

const textOfLine = (line: Line): string => line.map(({ text }) => text).join("");

const allRows = 100_000;
