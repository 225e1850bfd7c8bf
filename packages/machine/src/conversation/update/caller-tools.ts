import type { OpenTurn, QueuedAsk } from "../protocol/data.ts";
import type { CallerTool, OfferedTool } from "../protocol/event.ts";
import { offeredTool } from "../protocol/tool.ts";

/** The tools of a turn's askers, where they bring some: those of later asks over those of earlier ones that have their names. */
export const callerToolsOf = (
  before: readonly CallerTool[],
  asks: readonly Pick<QueuedAsk, "tools">[],
): Pick<OpenTurn, "callerTools"> => {
  const added = asks.reduce((tools, ask) => over(tools, ask.tools ?? []), before);
  return added.length === 0 ? {} : { callerTools: added };
};

/** Whether a tool is one of those who ask. The journal says so, whatever the machine declares by now. */
export const isCallers = ({ callerTools = [] }: Pick<OpenTurn, "callerTools">, name: string): boolean =>
  callerTools.some((tool) => tool.name === name);

/** A tool of one ask that has the name of the tool by which another one wants its output: one turn can't offer both. Null for none. */
export const nameClashing = (asks: readonly Pick<QueuedAsk, "tools" | "output">[]): string | null => {
  const outputs = new Set(asks.flatMap(({ output }) => (output?.mode === "tool" ? [output.name] : [])));
  const tools = outputs.size === 0 ? [] : asks.flatMap((ask) => ask.tools ?? []);
  return tools.find(({ name }) => outputs.has(name))?.name ?? null;
};

/** What a call of the turn offers: the tools of the configuration, and behind them those of the askers. */
export const offeredWith = (
  configured: readonly OfferedTool[],
  { callerTools = [] }: Pick<OpenTurn, "callerTools">,
): readonly OfferedTool[] => (callerTools.length === 0 ? configured : over(configured, callerTools.map(offeredTool)));

const over = <Tool extends { readonly name: string }>(
  before: readonly Tool[],
  after: readonly Tool[],
): readonly Tool[] =>
  after.length === 0 ? before : [...before.filter(({ name }) => !after.some((tool) => tool.name === name)), ...after];
