// A conversation that lives in the browser: it outlives a reload, all tabs show it, and if a tab is closed in the
// middle of an answer, another one continues it.
import { messagesOf, textOf } from "@colloquy/machine";
import {
  type AskHandle,
  createHost,
  indexedDbStore,
  type LlmDelta,
  type LlmHandler,
  type LlmOutcome,
} from "@colloquy/runtime-browser";

/** Calls the model through this page's server, which has the key and sends a line for each delta and the outcome. */
const llm: LlmHandler = async ({ messages }, { signal, onDelta }) => {
  const response = await fetch("/model", { method: "POST", body: JSON.stringify(messages), signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
    const lines = (rest + read.value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      // Cast: this page's server writes them.
      const piece = JSON.parse(line) as { readonly delta: LlmDelta } | { readonly outcome: LlmOutcome };
      if ("outcome" in piece) return piece.outcome;
      onDelta(piece.delta);
    }
  }
  return { type: "failed", failure: { kind: "network", message: "the answer was cut off", retryable: true } };
};

// Stores the shown parts of a turn, so that other tabs show them live too.
const host = createHost({ llm, store: indexedDbStore({ name: "example-23" }), partsMs: 100, pollMs: 100 });
const thread = host.thread("chat");

const shown = new Set<string>();

/** Shows an ask once: its question as soon as it is known, its answer live. Calls `began` when the ask has a turn. */
const show = async (handle: AskHandle, asked = "", began = (): void => {}): Promise<void> => {
  if (shown.has(handle.askId)) return;
  shown.add(handle.askId);
  const [question, answer] = [paragraph("question", asked), paragraph("answer", "")];
  const article = document.createElement("article");
  article.append(question, answer);
  document.querySelector("main")?.append(article);
  try {
    for await (const part of handle) {
      if (part.type === "turn.started") began();
      if ("turn" in part && question.textContent === "") question.textContent = await questionOf(part.turn);
      // The shown parts of the step are void: the step runs again.
      if (part.type === "step.started" || part.type === "thread.lost" || part.type === "replay.started")
        answer.textContent = "";
      if (part.type === "text.delta") answer.textContent += part.text;
      answer.scrollIntoView({ block: "end" });
    }
    answer.textContent = (await handle).text;
  } catch (error) {
    answer.textContent = String(error);
  }
};

const questionOf = async (turn: number): Promise<string> =>
  (await thread.look((state) =>
    messagesOf(state)
      .filter(({ role, id }) => role === "user" && id.startsWith(`${turn}.`))
      .map((message) => textOf(message))
      .join("\n"),
  )) ?? "";

const paragraph = (name: string, text: string): HTMLElement => {
  const made = document.createElement("p");
  made.className = name;
  made.textContent = text;
  return made;
};

// A tab that shows another tab's ask also continues it if that tab is closed.
const tabs = new BroadcastChannel("example-23");
tabs.addEventListener("message", ({ data }) => void show(thread.rejoin(String(data))));

document.querySelector("form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const input = document.querySelector("input");
  if (input === null) return;
  const handle = thread.ask(input.value);
  // From then on other tabs find it in the journal.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
  void show(handle, input.value, () => tabs.postMessage(handle.askId));
  input.value = "";
});

for (const { askId } of await thread.asks()) void show(thread.rejoin(askId));
