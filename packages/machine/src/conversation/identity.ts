import { configurationOf } from "./begin.ts";
import type { Configuration } from "./event.ts";
import type { ConversationMachine } from "./machine.ts";
import { kernel } from "./machine.ts";
import type { ToolDeclaration } from "./tool.ts";

/** A digest of a machine's configuration: names, versions and options in place of functions. Equal for machines that decide alike. */
export const fingerprintOf = (machine: ConversationMachine): string => machine[kernel].settings.fingerprint;

/** What a thread keeps of a machine's configuration; to be told as `thread.configured` when it differs. */
export const configurationOfMachine = (machine: ConversationMachine): Configuration =>
  configurationOf(machine[kernel].settings);

/** The tools that a machine was configured with. */
export const toolsOf = (machine: ConversationMachine): readonly ToolDeclaration[] => machine[kernel].settings.tools;
