import { ConfigurationError } from "@colloquy/machine";
import type { SessionCore } from "../core/core.ts";
import { type Frame, runIn } from "../nesting/frame.ts";
import { type Fields, fieldsGiven } from "../program/fields.ts";
import { functionOf, type ProgramContext, type NestedAskOptions } from "../program/program.ts";
import { validated } from "../program/signature.ts";
import {
  type AskHandle,
  type AskInput,
  type AskPart,
  type AskResult,
  type OutputOf,
  type OutputSchema,
  TurnError,
  type WrittenOf,
} from "@colloquy/host";
import { NotPlain, plainCopy } from "@colloquy/machine/hosting";
import { refuseEarlierParent } from "../core/earlier-parent.ts";
import { PartBuffer } from "../core/part-buffer.ts";
import { Pending } from "../core/pending.ts";
import { toolUseOf } from "../program/reply.ts";

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

/** Calls a model for a run, on a separate thread. */
const nestedAsk = <Schema extends OutputSchema = never>(
  frame: Frame,
  name: string,
  input: AskInput,
  options: NestedAskOptions<Schema> = {},
): AskHandle<OutputOf<Schema>, WrittenOf<Schema>> => {
  const { system, seed, tools, metadata, ...rest } = options;
  const host = frame.ground.models(tools);
  const copy = plainCopy(input);
  // The host refuses an input that has no plain copy, with its own error.
  const given = copy instanceof NotPlain ? input : (copy as AskInput);
  const id = frame.idOf(name, { input: given, system, seed, model: rest.model });
  const thread = host.thread(id);
  const place = frame.toolUse.push(null) - 1;
  const beginning = {
    metadata: { ...frame.hanging(name), ...(metadata === undefined ? {} : { ask: metadata }) },
    ...(system === undefined ? {} : { system }),
    ...(seed === undefined ? {} : { seed }),
  };
  const parts = new PartBuffer<AskPart<WrittenOf<Schema>>>();
  const asked = begunAsk();
  asked.catch((error: unknown) => parts.end(error));
  async function begunAsk(): Promise<Asked<OutputOf<Schema>, WrittenOf<Schema>>> {
    const begun = await frame.ground.begin(thread, beginning);
    if (!begun) refuseEarlierParent(await thread.state(), frame.turn?.createdAt ?? null);
    const handle = thread.ask(given, { ...rest, askId: id });
    frame.onCancel(() => handle.abort("the call around it was cancelled"));
    void showParts(handle, parts, (part) => frame.show({ type: "nested", name, threadId: id, part }));
    return { handle };
  }
  const result = (async (): Promise<AskResult<OutputOf<Schema>>> => {
    const { handle } = await asked;
    try {
      const answered = await handle;
      frame.used(answered.usage);
      frame.toolUse[place] = toolUseOf(answered.messages);
      return answered;
    } catch (thrown) {
      if (thrown instanceof TurnError) frame.used(thrown.summary.usage);
      throw thrown;
    }
  })();
  return new NestedAsk(id, asked, parts, result);
};

interface Asked<Output, Written> {
  readonly handle: AskHandle<Output, Written>;
}

/** The handle of a model call whose thread is still being created. */
class NestedAsk<Output, Written>
  extends Pending<AskResult<Output>, AskPart<Written>>
  implements AskHandle<Output, Written>
{
  readonly threadId: string;
  readonly askId: string;
  /** Null until the thread exists. */
  #handle: AskHandle | null = null;

  constructor(
    id: string,
    asked: Promise<Asked<Output, Written>>,
    parts: AsyncIterable<AskPart<Written>>,
    result: Promise<AskResult<Output>>,
  ) {
    super(
      result,
      () => parts,
      (reason) => void asked.then(({ handle }) => handle.abort(reason)).catch(() => {}),
    );
    this.threadId = id;
    this.askId = id;
    const begun = ({ handle }: { readonly handle: AskHandle }): void => void (this.#handle = handle);
    void asked.then(begun).catch(() => {});
  }

  get cursor(): string | null {
    return this.#handle?.cursor ?? null;
  }
}

/**
 * Shows the parts of a nested call as parts of the outer call, and to the readers of its handle. All readers of an ask
 * share its parts, so one loop reads them for both. Only the awaiting caller sees its outcome.
 */
const showParts = async <Written>(
  handle: AsyncIterable<AskPart<Written>>,
  parts: PartBuffer<AskPart<Written>>,
  show: (part: AskPart<Written>) => void,
): Promise<void> => {
  try {
    for await (const part of handle) {
      parts.push(part);
      show(part);
    }
    parts.end();
  } catch (thrown) {
    parts.end(thrown);
  }
};
