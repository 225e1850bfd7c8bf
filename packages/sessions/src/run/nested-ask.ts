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
import type { NestedAskOptions } from "../program/program.ts";
import { toolUseOf } from "../program/reply.ts";
import { refuseEarlierParent } from "../threads/shared-session.ts";
import { PartBuffer, PendingCall } from "./pending-call.ts";
import type { Run } from "./run.ts";

/** Calls a model for a run, on a separate thread. */
export const nestedAsk = <Schema extends OutputSchema = never>(
  run: Run,
  name: string,
  input: AskInput,
  options: NestedAskOptions<Schema> = {},
): AskHandle<OutputOf<Schema>, WrittenOf<Schema>> => {
  const { system, seed, tools, metadata, ...rest } = options;
  const host = run.runtime.models(tools);
  const copy = plainCopy(input);
  // The host refuses an input that has no plain copy, with its own error.
  const given = copy instanceof NotPlain ? input : (copy as AskInput);
  const id = run.idOf(name, { input: given, system, seed, model: rest.model });
  const thread = host.thread(id);
  const place = run.toolUse.push(null) - 1;
  const beginning = {
    metadata: { ...run.linkOf(name), ...(metadata === undefined ? {} : { ask: metadata }) },
    ...(system === undefined ? {} : { system }),
    ...(seed === undefined ? {} : { seed }),
  };
  const parts = new PartBuffer<AskPart<WrittenOf<Schema>>>();
  let cursor = (): string | null => null;
  // Wrapped, because awaiting the handle itself gives its result.
  const begin = async (): Promise<{ readonly asked: AskHandle<OutputOf<Schema>, WrittenOf<Schema>> }> => {
    if (!(await run.runtime.begin(thread, beginning)))
      refuseEarlierParent(await thread.state(), run.turn?.createdAt ?? null);
    const asked = thread.ask(given, { ...rest, askId: id });
    cursor = () => asked.cursor;
    run.onCancel((reason) => asked.abort(reason));
    void parts.endWith(asked, (part) => {
      parts.push(part);
      run.show({ type: "nested", name, threadId: id, part });
    });
    return { asked };
  };
  const begun = begin();
  begun.catch((error: unknown) => parts.end(error));
  const result = async (): Promise<AskResult<OutputOf<Schema>>> => {
    const { asked } = await begun;
    try {
      const answered = await asked;
      run.used(answered.usage);
      run.toolUse[place] = toolUseOf(answered.messages);
      return answered;
    } catch (thrown) {
      if (thrown instanceof TurnError) run.used(thrown.summary.usage);
      throw thrown;
    }
  };
  return new PendingCall({
    threadId: id,
    askId: id,
    result: result(),
    parts,
    abort: (reason) => void begun.then(({ asked }) => asked.abort(reason)).catch(() => {}),
    cursor: () => cursor(),
  });
};
