import { createHost, type Host, type LlmHandler, memoryStore, type Tool } from "@colloquy/host";
import { conversationMachine, type MachineOptions } from "@colloquy/machine";
import { sequentialIds, virtualClock, type VirtualClock } from "@colloquy/runtime-test";
import {
  type Key,
  type Line,
  type ScreenConversation,
  type ScreenPort,
  terminalConversation,
  type TerminalConversationOptions,
} from "../../../src/terminal/index.ts";

/** A conversation on a screen of 80 columns that draws each change, on a virtual clock. Keys are a second apart. */
export interface OnScreen {
  readonly host: Host;
  readonly clock: VirtualClock;
  readonly conversation: ScreenConversation;
  /** Presses keys by name, or types a text. */
  readonly press: (...names: readonly string[]) => void;
  readonly type: (text: string) => void;
  /** Types a text and presses Enter. */
  readonly send: (text: string) => void;
  /** Sends a text, and resolves when the screen shows the other text, or matches. */
  readonly ask: (text: string, shows: string | RegExp) => Promise<void>;
  readonly paste: (text: string) => void;
  /** The whole screen: the finished and open text, the input and the status. */
  readonly screen: () => string;
  /** The text in the scrollback. */
  readonly finished: () => string;
  readonly status: () => string;
  readonly input: () => string;
  /** Resolves when the screen shows this text, or matches. */
  readonly until: (text: string | RegExp) => Promise<void>;
  /** The requests to the screen. */
  readonly asked: string[];
}

const size = { columns: 80, rows: 24 };
/** So wide that no line is broken. */
const unbroken = 1000;

/** Opens a conversation with a model. */
export const onScreen = (
  llm: LlmHandler,
  options: Partial<TerminalConversationOptions> & {
    readonly machine?: MachineOptions;
    readonly tools?: readonly Tool[];
  } = {},
): OnScreen => {
  const { machine, tools = [], ...others } = options;
  const clock = virtualClock();
  const host =
    options.host ??
    createHost({
      machine: conversationMachine(machine),
      store: memoryStore({ clock }),
      llm,
      clock,
      ids: sequentialIds(),
      tools,
    });
  const asked: string[] = [];
  const port: ScreenPort = {
    suspend: async (run) => run(),
    stop: () => void asked.push("stop"),
    reprint: (lines) => void asked.push(`reprint ${text(lines)}`),
    copy: (copied) => asked.push(`copy ${copied}`) > 0,
    bell: () => void asked.push("bell"),
  };
  let milliseconds = 0;
  const now = (): number => milliseconds;
  const conversation = terminalConversation({ threadId: "here", port, now, ...others, host });
  conversation.onChange(() => conversation.drawn());
  const finished = (): string => text(conversation.shown().finished.flatMap(({ lines }) => lines(unbroken, size.rows)));
  const status = (): string => text([conversation.shown().status(size)]);
  const input = (): string => text(conversation.shown().input(size).lines);
  const screen = (): string => {
    const { view, open } = conversation.shown();
    if (view !== null) return `${view.title}\n${text(view.show(size).lines)}`;
    return [finished(), text(open(size)), input(), status()].join("\n");
  };
  const pressed = (key: Key): void => {
    milliseconds += 1000;
    conversation.press(key, size);
  };
  const press = (...names: readonly string[]): void => {
    for (const name of names) pressed({ type: "key", name });
  };
  const type = (typed: string): void => pressed({ type: "text", text: typed });
  const send = (sent: string): void => {
    type(sent);
    press("enter");
  };
  const until: OnScreen["until"] = (wanted) =>
    seen(conversation, () => (typeof wanted === "string" ? screen().includes(wanted) : wanted.test(screen())));
  return {
    host,
    clock,
    conversation,
    press,
    paste: (text) => pressed({ type: "paste", text }),
    type,
    send,
    ask: (sent, shows) => {
      send(sent);
      return until(shows);
    },
    screen,
    finished,
    status,
    input,
    until,
    asked,
  };
};

const seen = (conversation: ScreenConversation, isSeen: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (!isSeen()) return;
      stop();
      resolve();
    };
    const stop = conversation.onChange(look);
    look();
  });

/** Returns the text of lines, without colours. */
const text = (lines: readonly Line[]): string => lines.map((line) => line.map((span) => span.text).join("")).join("\n");
