import { approvalsOf, ConfigurationError, type State } from "@colloquy/machine";
import type { OptionKinds } from "../boundary/option-kinds.ts";
import { asksOfEffect, handlesTo, type Resumed } from "./resume.ts";
import { checkOptions, currentLoop, look, submit, type ThreadRef } from "./thread-ref.ts";

/** The options of an approval. */
export interface ApproveOptions {
  /** The person who approves; only recorded. */
  readonly by?: string;
  /** The digest of the request that the person saw. An answer to any other request is refused. */
  readonly digest?: string;
}

/** The options of a denial. */
export interface DenyOptions extends ApproveOptions {
  /** The reason that the model reads. */
  readonly reason?: string;
}

/**
 * Approves a tool call, by the id of its request, so that it runs. @throws ConfigurationError when this host has no
 * such tool
 */
export const approve = async (thread: ThreadRef, id: string, options: ApproveOptions): Promise<Resumed> => {
  checkOptions(thread, "approve", options, approveOptionKinds);
  return answer(thread, id, true, options);
};

/** Denies a tool call, so that it does not run. */
export const deny = async (thread: ThreadRef, id: string, options: DenyOptions): Promise<Resumed> => {
  checkOptions(thread, "deny", options, denyOptionKinds);
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
  const state = currentLoop(thread)?.state ?? null;
  // If the thread is open here, no event that is sent later comes before the answer.
  const seen = state === null ? await look(thread, asked) : asked(state);
  const name = approved ? seen?.name : undefined;
  // An engine has its own tools.
  if (name !== undefined && thread.host.store.engine === undefined && !thread.host.tools.has(name))
    throw new ConfigurationError(
      `this host has no tool "${name}": answer on a host that has it, since the host that answers goes on with the thread`,
    );
  // Made before the thread continues, so that they are shown all of it.
  const resumed = handlesTo(thread, seen?.underWay ?? null);
  await submit(thread, { type: "approval.answered", effectId, approved, digest, reason, by });
  return resumed;
};

const approveOptionKinds: OptionKinds<ApproveOptions> = { by: true, digest: true };

const denyOptionKinds: OptionKinds<DenyOptions> = { ...approveOptionKinds, reason: true };
