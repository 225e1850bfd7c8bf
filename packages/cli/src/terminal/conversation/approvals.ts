import type { HostedThread } from "@colloquy/host";
import type { ApprovalBlock } from "../blocks/block.ts";
import { failureText } from "../text/failure-text.ts";
import { oneLine } from "../text/printable.ts";
import { type AnswerBlocks, withApproval, withBlock, withNested } from "./answer-blocks.ts";
import type { NestedApproval, TerminalConversationOptions } from "./options.ts";

/** Answers the approvals of an exchange: those of its thread, and those that its tools wait for on other threads. */
export class Approvals {
  readonly #setting: ApprovalsSetting;
  /** The names of tools that run without a question until this process ends. */
  readonly #trusted = new Set<string>();
  /** The ids of those that were answered; after a failure a person is asked. */
  readonly #answered = new Set<string>();
  #nested: ReadonlyMap<string, NestedApproval> = new Map();

  constructor(setting: ApprovalsSetting) {
    this.#setting = setting;
  }

  /** Answers an approval. If that fails, asks for it again. */
  async answer(approval: ApprovalBlock, approved: boolean, reason = ""): Promise<void> {
    const { change, thread, notice, giveBack, isStopped } = this.#setting;
    const { id, digest, name } = approval;
    const { thread: asking } = this.#nested.get(id) ?? { thread: thread() };
    this.#answered.add(id);
    // Changed at once, because the effects may be shown before the answer is confirmed.
    change((blocks) => withApproval(blocks, approval, approved ? "approved" : "denied"));
    try {
      if (approved) await asking.approve(id, { digest });
      else await asking.deny(id, { digest, ...(reason === "" ? {} : { reason }) });
    } catch (thrown) {
      notice(`${oneLine(name)}: ${failureText(thrown)}`, "error");
      if (reason !== "") giveBack(reason);
      if (!isStopped()) change((blocks) => withBlock(blocks, approval));
    }
  }

  /** Lets the tool of an approval run, from now on without a question. */
  async trust(approval: ApprovalBlock): Promise<void> {
    this.#trusted.add(approval.name);
    this.#setting.notice(
      `${oneLine(approval.name)} runs without a question from here on, as long as this process lives`,
    );
    await this.answer(approval, true);
  }

  /** Returns whether a call may run without a question. Never for a call that may have run already. */
  isTrusted({ id, name, because }: ApprovalBlock): boolean {
    return because === "declared" && this.#trusted.has(name) && !this.#answered.has(id);
  }

  /** Shows the approvals that the tools of the answer wait for, until the returned function is called. */
  follow(): () => void {
    const { nested, thread, change } = this.#setting;
    if (nested === undefined) return () => {};
    let begun = 0;
    let newest = 0;
    const look = async (): Promise<void> => {
      const number = ++begun;
      const waiting = await nested.waiting(thread().id);
      // A look that began earlier, or before the end of the answer, may miss what waits now.
      if (number < newest) return;
      newest = number;
      this.#nested = new Map(waiting.map((each) => [each.request.id, each]));
      change((blocks) => withNested(blocks, waiting));
    };
    // If a thread cannot be read, the answer ends with that error.
    const looked = (): void => void look().catch(() => {});
    looked();
    const forget = nested.onRequest(looked);
    return () => {
      forget();
      newest = Number.POSITIVE_INFINITY;
    };
  }
}

interface ApprovalsSetting {
  readonly nested: TerminalConversationOptions["nested"] | undefined;
  readonly thread: () => HostedThread;
  readonly isStopped: () => boolean;
  /** Changes the blocks of the running answer, if there is one. */
  readonly change: (changed: (blocks: AnswerBlocks) => AnswerBlocks) => void;
  readonly notice: (text: string, level?: "dim" | "error") => void;
  /** Returns a text without effect to the person who typed it. */
  readonly giveBack: (text: string) => void;
}
