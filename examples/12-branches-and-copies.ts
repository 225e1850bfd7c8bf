// No message is lost: undo, redo, named places, branches, copies, and the thread as it was at any time.
import { messagesOf, textOf } from "@colloquy/machine";
import { differenceTable } from "@colloquy/machine/inspect";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { ruleModel } from "@colloquy/runtime-test/models";

const llm = ruleModel([{ name: "all", when: () => true, answer: ({ messages }) => `answer ${messages.length}` }]);
const store = memoryStore();
const host = createHost({ llm, store });
const thread = host.thread("story");
const show = async (title: string, of = thread): Promise<void> => {
  const state = await of.state();
  console.log(`${title}: ${state === null ? "" : messagesOf(state).map(textOf).join(" | ")}`);
};

await thread.ask("Once upon a time");
await thread.checkpoint("opening");
await thread.ask("there was a dragon");
await show("two turns");

const [undone] = await thread.undo();
console.log(`took back turn ${undone?.number}`);
await thread.ask("there was a librarian");
await show("another second turn");

await thread.restore("opening");
await show("back at the opening");
await thread.redo();
await show("and on, the way that was taken last");
await thread.branch(2);
await show("or the other way");

const { thread: copy } = await thread.fork({ turn: 2, threadId: "story-2" });
await copy.ask("who read books");
await show("a copy that went on", copy);
await show("what it was copied from");

const seq = (await thread.state())?.context.seq ?? 0;
console.log(differenceTable(await thread.difference(2, seq)));

await thread.redact({ turn: 2 }, { reason: "not for children", copies: ["story-2"] });
await show("without the words of turn 2");
await show("in the copy as well", copy);

const journal = await copy.exportJournal();
await show("read in again", await host.importJournal(journal, { threadId: "story-3" }));

const elsewhere = await thread.ask("there was a bookseller", { from: 1, whenBusy: "fork" });
console.log(`turn ${elsewhere.turn} of ${elsewhere.threadId}`);
await show("behind the first turn");
await host.close();
