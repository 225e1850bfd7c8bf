import type { HostedThread } from "@colloquy/host";
import { type State, toArray, type Turn, turnsOf } from "@colloquy/machine";
import { counted, tokensOf, totalOf } from "../text/figures.ts";
import { named } from "../text/printable.ts";
import type { Printer } from "../text/printer.ts";

/** Describes a thread and its content. */
export const showThread = async (printer: Printer, thread: HostedThread): Promise<void> => {
  const state = await thread.state();
  if (state === null) return printer.line(`new thread ${named(thread.id)}`, "dim");
  const turns = counted(turnsOf(state).length, "turn");
  printer.line(`continuing thread ${named(thread.id)}: ${turns}, ${tokensOf(state.context.usage.total)}`, "dim");
  // A lease in force proves no more than this, because its holder may have died already.
  if (state.context.open !== null)
    printer.line(
      "  its last turn is open: another process is answering it, or died at it; the next question comes after it",
      "dim",
    );
};

/** Shows the usage of a whole thread; nothing for a thread without asks. */
export const showTotal = async (printer: Printer, thread: HostedThread): Promise<void> => {
  const state = await thread.state();
  if (state !== null)
    printer.line(`thread ${named(thread.id)}: ${totalOf(allTurns(state), state.context.usage.total)}`, "dim");
};

const allTurns = ({ context }: State): readonly Turn[] => toArray(context.conversation.turns);
