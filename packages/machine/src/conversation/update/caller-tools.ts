import type { OpenTurn, QueuedAsk } from "../protocol/data.ts";
import type { CallerTool, OfferedTool } from "../protocol/event.ts";
import { offeredTool } from "../protocol/tool.ts";

/** Returns the callers' tools of a turn, if any. A later ask's tool replaces an earlier one of the same name. */
export const callerToolsOf = (
  before: readonly CallerTool[],
  asks: readonly Pick<QueuedAsk, "tools">[],
): Pick<OpenTurn, "callerTools"> => {
  const added = asks.reduce((tools, ask) => over(tools, ask.tools ?? []), before);
  return added.length === 0 ? {} : { callerTools: added };
};

/** Returns whether a tool belongs to the callers. The journal decides, whatever the machine declares now. */
export const isCallers = ({ callerTools = [] }: Pick<OpenTurn, "callerTools">, name: string): boolean =>
  callerTools.some((tool) => tool.name === name);

/**
 * Returns the name of a tool of one ask that equals the output tool of another, since one turn cannot offer both.
 * Returns null if there is none.
 */
export const nameClashing = (asks: readonly Pick<QueuedAsk, "tools" | "output">[]): string | null => {
  const outputs = new Set(asks.flatMap(({ output }) => (output?.mode === "tool" ? [output.name] : [])));
  const tools = outputs.size === 0 ? [] : asks.flatMap((ask) => ask.tools ?? []);
  return tools.find(({ name }) => outputs.has(name))?.name ?? null;
};

/** Returns the tools that a call of the turn offers: those of the configuration, then those of the callers. */
export const offeredWith = (
  configured: readonly OfferedTool[],
  { callerTools = [] }: Pick<OpenTurn, "callerTools">,
): readonly OfferedTool[] => (callerTools.length === 0 ? configured : over(configured, callerTools.map(offeredTool)));

const over = <Tool extends { readonly name: string }>(
  before: readonly Tool[],
  after: readonly Tool[],
): readonly Tool[] =>
  after.length === 0 ? before : [...before.filter(({ name }) => !after.some((tool) => tool.name === name)), ...after];
