import type { RequestApproval } from "@colloquy/machine";
import { h, type ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { asking, post } from "./server.ts";
import { JsonText, oneLine } from "./text.ts";
import { div, p } from "./element.ts";

export interface ApprovalsOptions {
  readonly thread: string;
  readonly approvals: readonly RequestApproval[];
}

/** Shows the tool calls that wait for approval, each with exactly the arguments that would run. */
export const Approvals = ({ thread, approvals }: ApprovalsOptions): ComponentChild =>
  div(
    "approvals",
    approvals.map((approval) => h(Approval, { key: approval.id, thread, approval })),
  );

const Approval = ({
  thread,
  approval,
}: {
  readonly thread: string;
  readonly approval: RequestApproval;
}): ComponentChild => {
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isSent, setSent] = useState(false);
  const { id, digest, name, version, because } = approval;
  const send = (approve: boolean): void => {
    setSent(true);
    setProblem(null);
    const body = { id, digest, approve, ...(approve || reason === "" ? {} : { reason }) };
    void asking(
      post("approval", { thread }, body),
      () => {},
      (words) => {
        setSent(false);
        setProblem(words);
      },
    );
  };
  return h(
    "form",
    { class: "approval", onSubmit: (event: Event) => event.preventDefault() },
    div(
      "approval-what",
      h("strong", null, oneLine(name), version === null ? "" : `@${oneLine(version)}`),
      because === "declared" ? " waits for your approval" : " was started, and its outcome is unknown: run it again?",
      h(
        "code",
        { class: "digest", title: "the digest of tool, version and arguments: the answer is about exactly these" },
        digest,
      ),
    ),
    h(JsonText, { value: approval.arguments }),
    div(
      "buttons",
      h(
        "button",
        { class: "primary approve", type: "button", disabled: isSent, onClick: () => send(true) },
        "Approve ",
        h("kbd", null, "a"),
      ),
      h(
        "button",
        { class: "deny", type: "button", disabled: isSent, onClick: () => send(false) },
        "Deny ",
        h("kbd", null, "d"),
      ),
      h("input", {
        type: "text",
        placeholder: "why not, for the model",
        "aria-label": "Reason of a denial",
        value: reason,
        // The event's target is this input.
        onInput: (event: Event) => setReason((event.target as HTMLInputElement).value),
      }),
    ),
    problem !== null && p("problem", problem),
  );
};
