import { approvalsOf, ConfigurationError, type State } from "@colloquy/machine";
import type { OptionNames } from "../boundary/option-names.ts";
import { asksOfEffect, handlesTo, type Resumed } from "./resume.ts";
import { checkOptions, look, submit, type ThreadRef } from "./thread-ref.ts";

/** How a tool call is approved. */
export interface ApproveOptions {
  /** The person who approves; only kept. */
  readonly by?: string;
  /** The digest of the request that was looked at: an answer about any other is refused. */
  readonly digest?: string;
}

/** How a tool call is denied. */
export interface DenyOptions extends ApproveOptions {
  /** For the model. */
  readonly reason?: string;
}

/** Has a tool call run, by the id of its request. @throws ConfigurationError when this host has no such tool */
export const approve = async (thread: ThreadRef, id: string, options: ApproveOptions): Promise<Resumed> => {
  checkOptions(thread, "approve", options, approveOptionNames);
  return answer(thread, id, true, options);
};

/** Has a tool call not run. */
export const deny = async (thread: ThreadRef, id: string, options: DenyOptions): Promise<Resumed> => {
  checkOptions(thread, "deny", options, denyOptionNames);
  return answer(thread, id, false, options);
};

const answer = async (
  thread: ThreadRef,
  effectId: string,
  approved: boolean,
  { by, digest, reason }: DenyOptions,
): Promise<Resumed> => {
  const asked = (state: State) => ({
    name: approvalsOf(state).find(({ id }) => id === effectId)?.name,
    underWay: asksOfEffect(state, effectId),
  });
  const state = thread.loops.opened(thread.id)?.state ?? null;
  // Where the thread is open, nothing that is sent next comes before it.
  const seen = state === null ? await look(thread, asked) : asked(state);
  const name = approved ? seen?.name : undefined;
  // An engine has its own.
  if (name !== undefined && thread.host.store.engine === undefined && !thread.host.tools.has(name))
    throw new ConfigurationError(
      `this host has no tool "${name}": answer on a host that has it, since the host that answers goes on with the thread`,
    );
  // Before it goes on, so that they are shown all of it.
  const resumed = handlesTo(thread, seen?.underWay ?? null);
  await submit(thread, { type: "approval.answered", effectId, approved, digest, reason, by });
  return resumed;
};

const approveOptionNames: OptionNames<ApproveOptions> = { by: true, digest: true };

const denyOptionNames: OptionNames<DenyOptions> = { ...approveOptionNames, reason: true };
