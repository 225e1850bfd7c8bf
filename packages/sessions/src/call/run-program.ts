import { ConfigurationError } from "@colloquy/machine";
import type { SessionCore } from "../core/core.ts";
import { type Frame, runIn } from "../nesting/frame.ts";
import { nestedAsk } from "../nesting/nested-ask.ts";
import { type Fields, fieldsGiven } from "../program/fields.ts";
import { functionOf, type ProgramContext } from "../program/program.ts";
import { validated } from "../program/signature.ts";

/**
 * Runs the program once, on copies, and returns its outputs as the signature validates them.
 *
 * @throws the program's error
 */
export const runProgram = async (
  core: SessionCore,
  frame: Frame,
  inputs: Fields,
  remembered: Pick<ProgramContext, "threadId" | "turn">,
): Promise<Fields> => {
  const { name, program, options } = core;
  const context = Object.freeze<ProgramContext>({
    ...remembered,
    memory: frame.memory,
    signal: frame.signal,
    callId: frame.key,
    status: (text) => frame.show({ type: "status", text }),
    partial: (outputs) =>
      frame.show({ type: "partial", outputs: fieldsGiven(`the partial outputs of "${name}"`, outputs) }),
    ask: (node, input, asking) => {
      if (typeof node === "string" && node !== "") return nestedAsk(frame, node, input, asking);
      throw new ConfigurationError(
        `the program "${name}" calls a model as ${JSON.stringify(node)}; a call needs a name`,
      );
    },
  });
  // The signature checked the inputs when the call was made.
  const given = structuredClone(inputs) as never;
  const outputs = await runIn(frame, () => functionOf(program)(given, context));
  const fields = await validated(`the outputs of "${name}"`, options.signature?.outputs, outputs);
  for (const atEnd of frame.atEnd.values()) await atEnd();
  return fields;
};
